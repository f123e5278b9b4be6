// A random-access file: local, or an object in a store behind Arrow's file systems. Immutable after opening and safe to read from many
// threads. Memory: none of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pistachio {

// Changes when the content behind a path changes.
struct FileIdentity {
  int64_t size = 0;
  std::string version;  // modification and change time, device and inode; or the store's tag

  bool operator==(const FileIdentity&) const = default;
};

class FileMapping;
class OpenFiles;

// A file held open for many small reads of bytes in the page cache, on the calling thread.
class HeldFile {
 public:
  virtual ~HeldFile() = default;
  // Fills `target`. Throws DataError.
  virtual void read(int64_t offset, std::span<uint8_t> target) const = 0;
};

class DataFile {
 public:
  DataFile(std::string path, FileIdentity identity) : path_(std::move(path)), identity_(std::move(identity)) {}
  virtual ~DataFile() = default;

  const std::string& path() const { return path_; }
  int64_t size() const { return identity_.size; }
  const FileIdentity& identity() const { return identity_; }
  // True if every read costs a round trip, so that reading across larger gaps pays off.
  virtual bool is_remote() const = 0;

  // Reads the prefix of the range that is in the page cache, without waiting. Returns the bytes read; 0 if unknown.
  virtual int64_t read_cached(int64_t offset, std::span<uint8_t> target) = 0;
  // Fills `target`; may wait for the device, so call it on blocking threads only. Throws DataError.
  virtual void read_blocking(int64_t offset, std::span<uint8_t> target) = 0;

  // Nullptr if there are no pages to map: a remote file, direct I/O, too little address space. Throws DataError if the file changed.
  virtual std::shared_ptr<const FileMapping> map() { return nullptr; }
  // For files that can be mapped. Throws DataError if the file changed.
  virtual std::shared_ptr<const HeldFile> hold() { return nullptr; }

 private:
  std::string path_;
  FileIdentity identity_;
};

// Opens a local file; `direct` bypasses the page cache. `open_files` may close the descriptor between reads; without it, it stays open.
// Throws UserError if the file is missing, not readable or a folder.
std::shared_ptr<DataFile> open_local_file(const std::string& path, bool direct, std::shared_ptr<OpenFiles> open_files = nullptr);

}  // namespace pistachio
