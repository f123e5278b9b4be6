#include "readers/arrow_source.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "storage/file_kind.h"

namespace pistachio {

namespace {

// A DataFile as Arrow reads it.
class ArrowInput final : public arrow::io::RandomAccessFile {
 public:
  explicit ArrowInput(std::shared_ptr<DataFile> file) : file_(std::move(file)) { set_mode(arrow::io::FileMode::READ); }

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Result<int64_t> GetSize() override { return file_->size(); }
  arrow::Status Seek(int64_t position) override {
    if (position < 0) return arrow::Status::Invalid("a negative position");
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* target) override {
    const int64_t length = std::clamp<int64_t>(bytes, 0, std::max<int64_t>(0, file_->size() - position));
    try {
      if (length > 0) file_->read_blocking(position, {static_cast<uint8_t*>(target), static_cast<size_t>(length)});
    } catch (const Error& error) {
      return arrow::Status::IOError(error.message());
    }
    return length;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override {
    const int64_t length = std::clamp<int64_t>(bytes, 0, std::max<int64_t>(0, file_->size() - position));
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::ResizableBuffer> buffer, arrow::AllocateResizableBuffer(length));
    ARROW_RETURN_NOT_OK(ReadAt(position, length, buffer->mutable_data()));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t bytes, void* target) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t length, ReadAt(position_, bytes, target));
    position_ += length;
    return length;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, bytes));
    position_ += buffer->size();
    return buffer;
  }

 private:
  const std::shared_ptr<DataFile> file_;
  int64_t position_ = 0;
  bool closed_ = false;
};

[[noreturn]] void refuse_arrow(const DataFile& file, const arrow::Status& status) {
  throw DataError(fmt::format("it is no Arrow file, or damaged: {}", status.message()), {.file = file.path(), .column = {}});
}

}  // namespace

ArrowSource::ArrowSource(std::shared_ptr<DataFile> file, std::vector<int> fields) : file_(std::move(file)) {
  std::array<uint8_t, 256> head{};
  const auto length = static_cast<size_t>(std::min<int64_t>(file_->size(), static_cast<int64_t>(head.size())));
  if (length > 0) file_->read_blocking(0, {head.data(), length});
  const std::string_view kind = kind_of_bytes({head.data(), length});
  if (!kind.empty() && kind != "an Arrow file" && kind != "an Arrow stream")
    throw DataError(fmt::format("it is {}, not an Arrow file", kind), {.file = file_->path(), .column = {}});
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.included_fields = std::move(fields);
  options.use_threads = false;
  auto input = std::make_shared<ArrowInput>(file_);
  if (kind == "an Arrow file") {
    auto opened = arrow::ipc::RecordBatchFileReader::Open(input, options);
    if (!opened.ok()) refuse_arrow(*file_, opened.status());
    file_reader_ = *opened;
    schema_ = file_reader_->schema();
    return;
  }
  auto opened = arrow::ipc::RecordBatchStreamReader::Open(std::shared_ptr<arrow::io::InputStream>(input), options);
  if (!opened.ok()) refuse_arrow(*file_, opened.status());
  stream_reader_ = *opened;
  schema_ = stream_reader_->schema();
}

ArrowSource::~ArrowSource() = default;

int ArrowSource::batches() const {
  return file_reader_ ? file_reader_->num_record_batches() : 0;
}

std::shared_ptr<arrow::RecordBatch> ArrowSource::next(bool skips) {
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> read = std::shared_ptr<arrow::RecordBatch>();
  if (file_reader_) {
    if (next_batch_ == file_reader_->num_record_batches()) return nullptr;
    if (skips) {
      ++next_batch_;
      return arrow::RecordBatch::Make(arrow::schema({}), 0, std::vector<std::shared_ptr<arrow::Array>>());
    }
    read = file_reader_->ReadRecordBatch(next_batch_++);
  } else {
    read = stream_reader_->Next();
  }
  if (!read.ok()) refuse_arrow(*file_, read.status());
  if (*read == nullptr) return nullptr;
  // Offsets and sizes from the file are not to be trusted.
  if (const arrow::Status checked = (*read)->ValidateFull(); !checked.ok()) refuse_arrow(*file_, checked);
  return *read;
}

}  // namespace pistachio
