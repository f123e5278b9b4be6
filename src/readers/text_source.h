// The bytes of a text file from its beginning on, decompressed if it is compressed. Reads through the query's read pool, so that limits and
// figures hold. One task at a time. Memory: a buffer of compressed bytes, and what the caller passes in.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/task.h"
#include "readers/read_options.h"
#include "storage/storage_context.h"

namespace arrow::util {
class Codec;
class Decompressor;
}  // namespace arrow::util

namespace pistachio {

// Opens a local file or an object. Throws UserError.
Task<std::shared_ptr<DataFile>> open_data_file(StorageContext& storage, const std::string& path);

class TextSource {
 public:
  // `need` is the priority of its reads (storage/read_pool.h).
  TextSource(StorageContext& storage, std::shared_ptr<DataFile> file, FileCompression compression, int64_t need);
  ~TextSource();

  // Fills `target` unless the text ends before; returns the bytes. Throws DataError for damaged compressed data.
  Task<int64_t> read(std::span<uint8_t> target);
  // Skips bytes; only at the beginning.
  Task<void> skip(int64_t bytes);

 private:
  Task<int64_t> read_plain(std::span<uint8_t> target);
  Task<int64_t> read_compressed(std::span<uint8_t> target);
  [[noreturn]] void refuse(std::string_view problem) const;

  StorageContext& storage_;
  const std::shared_ptr<DataFile> file_;
  const FileCompression compression_;
  const int64_t need_;
  int64_t offset_ = 0;  // in the file
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::util::Decompressor> decompressor_;
  at::Tensor packed_;  // compressed bytes, from packed_at_ on not used yet
  int64_t packed_at_ = 0;
  bool is_inside_ = false;  // of a compressed stream: more must follow
};

// By the first bytes of a file: Gzip, Zstd or None.
FileCompression compression_of_bytes(std::span<const uint8_t> head);

}  // namespace pistachio
