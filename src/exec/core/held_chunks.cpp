#include "exec/core/held_chunks.h"

#include <ATen/ATen.h>

#include "columns/row_selection.h"
#include "data/concatenate_columns.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

at::Tensor own_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  // A slice would keep all of its storage alive.
  bool is_whole = tensor.is_contiguous() && static_cast<size_t>(tensor.nbytes()) == tensor.storage().nbytes();
  return is_whole ? tensor : tensor.clone(at::MemoryFormat::Contiguous);
}

}  // namespace

Column own_column(const Column& column) {
  // A few rows must not keep a large dictionary alive.
  bool is_sparse = column.is_dictionary() && column.dictionary_column()->rows() > column.rows();
  if (is_sparse) return own_column(decode_dictionary(column));
  at::Tensor validity = own_tensor(column.validity());
  if (column.is_dictionary()) return Column::dictionary(own_tensor(column.codes()), column.dictionary_column(), validity);
  if (column.type().is_text()) {
    auto [bytes, offsets] = kernels::text_compact(column.bytes(), column.begins(), column.ends());
    return Column::text(column.type(), bytes, offsets.slice(0, 0, column.rows()), offsets.slice(0, 1), validity);
  }
  return Column::fixed(column.type(), own_tensor(column.values()), validity);
}

void HeldChunks::add(const Chunk& chunk) {
  std::vector<Column> columns;
  int64_t bytes = 0;
  for (const Column& column : chunk.columns()) {
    columns.push_back(own_column(column));
    bytes += columns.back().memory_bytes();
    if (columns.back().is_dictionary() && dictionaries_.insert(columns.back().dictionary_column().get()).second)
      bytes += columns.back().dictionary_column()->memory_bytes();
  }
  int64_t rows = chunk.rows();
  // Not waited for: the lane that is here may hold the very memory it would wait for.
  memory_.push_back(account_.reserve_now(bytes, ReservationKind::Held));
  chunks_.emplace_back(std::move(columns), rows, chunk.device());
  rows_ += rows;
  bytes_ += bytes;
}

Chunk concatenate_chunks(const std::vector<Chunk>& chunks, const std::vector<LogicalType>& types, at::Device device) {
  std::vector<Column> columns;
  int64_t rows = 0;
  for (const Chunk& chunk : chunks) rows += chunk.rows();
  for (size_t i = 0; i < types.size(); ++i) {
    std::vector<Column> pieces;
    for (const Chunk& chunk : chunks) pieces.push_back(chunk.column(i));
    columns.push_back(pieces.empty() ? null_column(types[i], 0, device) : concatenate_columns(pieces));
  }
  return Chunk(std::move(columns), rows, device);
}

}  // namespace pistachio
