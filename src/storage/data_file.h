// A file that can be read at any offset: a local file or an object of a store behind Arrow's file systems. Immutable after opening and
// safe to read from many threads. Memory: none of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pistachio {

// What tells one content of a path from another.
struct FileIdentity {
  int64_t size = 0;
  std::string version;  // modification and change time, device and inode; or the store's tag

  bool operator==(const FileIdentity&) const = default;
};

class OpenFiles;

class DataFile {
 public:
  DataFile(std::string path, FileIdentity identity) : path_(std::move(path)), identity_(std::move(identity)) {}
  virtual ~DataFile() = default;

  const std::string& path() const { return path_; }
  int64_t size() const { return identity_.size; }
  const FileIdentity& identity() const { return identity_; }
  // Every read costs a round trip: larger gaps are worth reading over.
  virtual bool is_remote() const = 0;

  // Reads what is in memory already, from the front of `target`, and never waits; gives the bytes read, 0 if it cannot tell.
  virtual int64_t read_cached(int64_t offset, std::span<uint8_t> target) = 0;
  // Fills `target`, may wait for the device: called on the pool for blocking calls only. Throws DataError.
  virtual void read_blocking(int64_t offset, std::span<uint8_t> target) = 0;

 private:
  std::string path_;
  FileIdentity identity_;
};

// Opens a local file; with `direct`, past the page cache. `open_files` may close it between two reads; without, it stays open. Throws
// UserError with what to do (missing, no permission, a folder).
std::shared_ptr<DataFile> open_local_file(const std::string& path, bool direct, std::shared_ptr<OpenFiles> open_files = nullptr);

}  // namespace pistachio
