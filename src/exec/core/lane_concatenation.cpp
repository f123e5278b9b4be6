#include "exec/core/lane_concatenation.h"

#include "columns/column_assembly.h"
#include "exec/core/held_chunks.h"

namespace pistachio {

Task<Chunk> concatenate_on_lanes(RunContext& context, std::vector<Chunk> chunks, std::vector<LogicalType> types, OperatorMetrics& metrics) {
  const TaskContext& task = co_await current_context();
  int64_t rows = 0;
  for (const Chunk& chunk : chunks) rows += chunk.rows();
  if (chunks.size() < 2 || !context.needs_all_lanes(rows)) {
    WorkTimer timer(metrics);
    co_return concatenate_chunks(chunks, types, context.device, task.token);
  }
  std::vector<ColumnAssembly> columns;
  for (size_t i = 0; i < types.size(); ++i) {
    std::vector<Column> pieces;
    for (const Chunk& chunk : chunks) pieces.push_back(chunk.column(i));
    columns.emplace_back(pieces);
  }
  auto copy = [&](int, int64_t piece) -> Task<void> {
    WorkTimer timer(metrics);
    for (ColumnAssembly& column : columns) column.copy(static_cast<size_t>(piece));
    chunks[static_cast<size_t>(piece)] = {};
    co_return;
  };
  Task<void> copying = for_each_lane(context, static_cast<int64_t>(chunks.size()), copy);
  co_await copying;
  std::vector<Column> whole;
  for (const ColumnAssembly& column : columns) whole.push_back(column.finish());
  co_return Chunk(std::move(whole), rows, context.device);
}

}  // namespace pistachio
