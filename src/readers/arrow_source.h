// The record batches of an Arrow IPC file (also called Feather) or stream. Reads block, so call it on a blocking thread. One task at a
// time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/data_file.h"

namespace arrow {
class RecordBatch;
class Schema;
namespace ipc {
class RecordBatchFileReader;
class RecordBatchStreamReader;
}  // namespace ipc
}  // namespace arrow

namespace pistachio {

class ArrowSource {
 public:
  // `fields`: places of the top-level fields to read, ascending; others are skipped. Throws DataError if it is no Arrow file.
  ArrowSource(std::shared_ptr<DataFile> file, std::vector<int> fields);
  ~ArrowSource();

  // Of the whole file.
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  // Files have a directory of their batches; streams are read one after the other.
  bool is_stream() const { return file_reader_ == nullptr; }
  int batches() const;  // of a file
  // Null at the end. `skips`: only moves on, if that is possible without reading.
  std::shared_ptr<arrow::RecordBatch> next(bool skips);

 private:
  std::shared_ptr<DataFile> file_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> file_reader_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> stream_reader_;
  int next_batch_ = 0;
};

}  // namespace pistachio
