#include "catalog/table.h"

#include <algorithm>
#include <limits>

#include "catalog/distinct_texts.h"

namespace pistachio {

std::shared_ptr<const Table> Table::of_files(std::string name, ParquetTable files) {
  auto table = std::make_shared<Table>();
  table->name_ = std::move(name);
  for (const TableColumn& column : files.columns) table->columns_.push_back({column.name, column.type, column.unsupported});
  for (const TableFile& file : files.files) table->rows_ += file.footer().rows;
  for (size_t i = 0; i < files.columns.size(); ++i)
    table->distinct_texts_.push_back(files.columns[i].type.is_text() ? estimate_distinct_texts(files, i) : std::nullopt);
  table->files_ = std::move(files);
  return table;
}

std::shared_ptr<const Table> Table::of_partitions(std::string name, ParquetTable first, FileOpener open) {
  auto table = std::make_shared<Table>(*of_files(std::move(name), std::move(first)));
  if (__builtin_mul_overflow(table->rows_, static_cast<int64_t>(table->files().listing->files.size()), &table->rows_))
    table->rows_ = std::numeric_limits<int64_t>::max();
  table->open_ = std::move(open);
  return table;
}

std::shared_ptr<const Table> Table::open_partitions(std::vector<size_t> places) const {
  if (places.empty() || places.front() != 0) places.insert(places.begin(), 0);
  std::shared_ptr<const Table> opened = of_files(name_, open_(std::move(places)));
  bool same = std::equal(columns_.begin(), columns_.end(), opened->columns_.begin(), opened->columns_.end(),
                         [](const TableColumnInfo& left, const TableColumnInfo& right) {
                           return left.name == right.name && left.type == right.type && left.unsupported == right.unsupported;
                         });
  if (!same) throw SchemaMismatch(files_->listing->patterns);
  return opened;
}

std::shared_ptr<const Table> Table::of_row_files(std::string name, RowFileTable files) {
  auto table = std::make_shared<Table>();
  table->name_ = std::move(name);
  for (const RowFileColumn& column : files.columns) table->columns_.push_back({column.name, column.type, column.unsupported});
  table->rows_ = static_cast<int64_t>(std::min(files.estimated_rows, 1e15));
  table->row_files_ = std::make_shared<const RowFileTable>(std::move(files));
  return table;
}

std::shared_ptr<const Table> Table::of_chunks(std::string name, std::vector<TableColumnInfo> columns, std::vector<Chunk> chunks,
                                              std::vector<std::shared_ptr<const Reservation>> memory) {
  auto table = std::make_shared<Table>();
  table->name_ = std::move(name);
  table->columns_ = std::move(columns);
  for (const Chunk& chunk : chunks) table->rows_ += chunk.rows();
  table->chunks_ = std::move(chunks);
  table->memory_ = std::move(memory);
  return table;
}

}  // namespace pistachio
