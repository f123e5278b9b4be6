#include "readers/text_source.h"

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/run_blocking.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr int64_t kPackedBytes = 1 << 20;

}  // namespace

Task<std::shared_ptr<DataFile>> open_data_file(StorageContext& storage, const std::string& path) {
  auto open = [&] {
    return is_object_address(path) ? storage.object_stores.open(path) : open_local_file(path, storage.settings.direct_io);
  };
  std::shared_ptr<DataFile> opened = co_await run_blocking(open);
  co_return opened;
}

TextSource::TextSource(StorageContext& storage, std::shared_ptr<DataFile> file, FileCompression compression, int64_t need)
    : storage_(storage), file_(std::move(file)), compression_(compression), need_(need) {
  if (compression_ != FileCompression::Gzip && compression_ != FileCompression::Zstd) return;
  auto made = arrow::util::Codec::Create(compression_ == FileCompression::Gzip ? arrow::Compression::GZIP : arrow::Compression::ZSTD);
  if (!made.ok()) refuse(fmt::format("its compression cannot be read: {}", made.status().message()));
  codec_ = std::move(*made);
  auto started = codec_->MakeDecompressor();
  if (!started.ok()) refuse(fmt::format("its compression cannot be read: {}", started.status().message()));
  decompressor_ = std::move(*started);
}

TextSource::~TextSource() = default;

void TextSource::refuse(std::string_view problem) const {
  throw DataError(std::string(problem), {.file = file_->path(), .column = {}});
}

Task<int64_t> TextSource::read(std::span<uint8_t> target) {
  Task<int64_t> reading = decompressor_ ? read_compressed(target) : read_plain(target);
  const int64_t bytes = co_await reading;
  co_return bytes;
}

Task<void> TextSource::skip(int64_t bytes) {
  if (!decompressor_) {
    offset_ = std::min(bytes, file_->size());
    co_return;
  }
  std::vector<uint8_t> dropped(static_cast<size_t>(std::min<int64_t>(bytes, kPackedBytes)));
  while (bytes > 0) {
    Task<int64_t> reading = read_compressed({dropped.data(), static_cast<size_t>(std::min<int64_t>(bytes, kPackedBytes))});
    const int64_t read = co_await reading;
    if (read == 0) co_return;
    bytes -= read;
  }
}

Task<int64_t> TextSource::read_plain(std::span<uint8_t> target) {
  const int64_t length = std::min(static_cast<int64_t>(target.size()), file_->size() - offset_);
  if (length <= 0) co_return 0;
  std::vector<ByteRange> ranges = {{offset_, length}};
  Task<std::vector<FileBytes>> reading = storage_.read_pool.read(file_, std::move(ranges), need_);
  const std::vector<FileBytes> buffers = co_await reading;
  for (const FileBytes& buffer : buffers) {
    std::memcpy(target.data() + (buffer.offset - offset_), buffer.bytes.const_data_ptr<uint8_t>(),
                static_cast<size_t>(buffer.bytes.numel()));
  }
  offset_ += length;
  co_return length;
}

Task<int64_t> TextSource::read_compressed(std::span<uint8_t> target) {
  int64_t written = 0;
  const auto wanted = static_cast<int64_t>(target.size());
  while (written < wanted) {
    bool has_input = packed_.defined() && packed_at_ < packed_.numel();
    const int64_t length = has_input ? 0 : std::min(kPackedBytes, file_->size() - offset_);
    // Without further input, the decompressor may still hold output that there was no room for.
    if (!has_input && length <= 0 && !is_inside_) break;
    if (length > 0) {
      has_input = true;
      std::vector<ByteRange> ranges = {{offset_, length}};
      Task<std::vector<FileBytes>> reading = storage_.read_pool.read(file_, std::move(ranges), need_);
      std::vector<FileBytes> buffers = co_await reading;
      packed_ = std::move(buffers.at(0).bytes);
      packed_at_ = 0;
      offset_ += length;
    }
    // Files may be several compressed streams one after the other.
    if (decompressor_->IsFinished() && !decompressor_->Reset().ok()) refuse("its compressed data cannot be read");
    if (!packed_.defined()) refuse("its compressed data ends too early");
    const auto step = decompressor_->Decompress(packed_.numel() - packed_at_, packed_.const_data_ptr<uint8_t>() + packed_at_,
                                                wanted - written, target.data() + written);
    if (!step.ok()) refuse("its compressed data is damaged");
    packed_at_ += step->bytes_read;
    written += step->bytes_written;
    is_inside_ = !decompressor_->IsFinished();
    const bool is_stuck = step->bytes_read == 0 && step->bytes_written == 0;
    if (is_stuck) refuse(has_input ? "its compressed data is damaged" : "its compressed data ends too early");
  }
  co_return written;
}

FileCompression compression_of_bytes(std::span<const uint8_t> head) {
  if (head.size() >= 2 && head[0] == 0x1F && head[1] == 0x8B) return FileCompression::Gzip;
  if (head.size() >= 4 && head[0] == 0x28 && head[1] == 0xB5 && head[2] == 0x2F && head[3] == 0xFD) return FileCompression::Zstd;
  return FileCompression::None;
}

}  // namespace pistachio
