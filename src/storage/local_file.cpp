// Local files by pread. `read_cached` uses preadv2 with RWF_NOWAIT, so cached data is copied by the worker that needs it and only cold
// reads go to blocking threads.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "storage/data_file.h"
#include "storage/file_mapping.h"
#include "storage/open_files.h"

namespace pistachio {

namespace {

constexpr int64_t kDirectAlignment = 4096;

// Non-blocking: opening a named pipe would otherwise wait for a writer.
std::shared_ptr<const FileDescriptor> open_descriptor(const std::string& path, bool direct) {
  int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (direct ? O_DIRECT : 0));
  if (number >= 0) return std::make_shared<const FileDescriptor>(number);
  if (direct && errno == EINVAL) throw UserError(fmt::format("{}: its file system does not support direct I/O; set direct_io = off", path));
  if (errno == EMFILE || errno == ENFILE)
    throw UserError(fmt::format("cannot open {}: {}; raise the limit of open files (ulimit -n)", path, std::strerror(errno)));
  throw UserError(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
}

FileIdentity identity_of(const std::string& path, const FileDescriptor& descriptor) {
  struct stat facts {};
  if (::fstat(descriptor.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
    throw UserError(fmt::format("cannot read {}: it is not a regular file", path));
  // A replaced file can have the same size and modification time, but copying tools cannot set inode and change time.
  return {facts.st_size, fmt::format("{}.{:09} {}.{:09} {}:{}", facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec,
                                     facts.st_ctim.tv_nsec, facts.st_dev, facts.st_ino)};
}

// Fills `target`, or stops at the end of the file if `allow_end`. Returns the bytes read.
int64_t read_fully(const std::string& path, const FileDescriptor& descriptor, int64_t offset, std::span<uint8_t> target,
                   bool allow_end = false) {
  int64_t done = 0;
  while (done < static_cast<int64_t>(target.size())) {
    ssize_t got = ::pread(descriptor.number(), target.data() + done, target.size() - static_cast<size_t>(done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw DataError(fmt::format("cannot read: {}", std::strerror(errno)), {path, -1, "", offset + done});
    if (got == 0) {
      if (allow_end) return done;
      throw DataError("the file ends early; it was truncated while it was being read", {path, -1, "", offset + done});
    }
    done += got;
  }
  return done;
}

class HeldLocalFile final : public HeldFile {
 public:
  HeldLocalFile(std::string path, std::shared_ptr<const FileDescriptor> descriptor) : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  void read(int64_t offset, std::span<uint8_t> target) const override { read_fully(path_, *descriptor_, offset, target); }

 private:
  const std::string path_;
  const std::shared_ptr<const FileDescriptor> descriptor_;
};

class LocalFile final : public DataFile {
 public:
  LocalFile(std::string path, FileIdentity identity, std::shared_ptr<const FileDescriptor> descriptor, bool direct,
            std::shared_ptr<OpenFiles> open_files)
      : DataFile(std::move(path), std::move(identity)), direct_(direct), open_files_(std::move(open_files)) {
    open_files_->keep(this, std::move(descriptor));
  }
  ~LocalFile() override { open_files_->forget(this); }
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  bool is_remote() const override { return false; }

  int64_t read_cached(int64_t offset, std::span<uint8_t> target) override {
    if (direct_) return 0;
    std::shared_ptr<const FileDescriptor> descriptor = open_files_->find(this);
    if (descriptor == nullptr) return 0;  // opening it may wait
    int64_t done = 0;
    while (done < static_cast<int64_t>(target.size())) {
      iovec part{target.data() + done, target.size() - static_cast<size_t>(done)};
      ssize_t got = ::preadv2(descriptor->number(), &part, 1, offset + done, RWF_NOWAIT);
      if (got <= 0) break;  // cold, not supported, or an error that the blocking read will report
      done += got;
    }
    return done;
  }

  void read_blocking(int64_t offset, std::span<uint8_t> target) override {
    std::shared_ptr<const FileDescriptor> descriptor = opened();
    if (direct_) {
      read_direct(*descriptor, offset, target);
    } else {
      read_fully(path(), *descriptor, offset, target);
    }
  }

  std::shared_ptr<const FileMapping> map() override {
    if (direct_ || size() == 0) return nullptr;
    void* address = ::mmap(nullptr, static_cast<size_t>(size()), PROT_READ, MAP_SHARED, opened()->number(), 0);
    return address == MAP_FAILED ? nullptr : std::make_shared<const FileMapping>(address, size());
  }

  std::shared_ptr<const HeldFile> hold() override { return std::make_shared<const HeldLocalFile>(path(), opened()); }

 private:
  std::shared_ptr<const FileDescriptor> opened() {
    std::shared_ptr<const FileDescriptor> descriptor = open_files_->find(this);
    if (descriptor != nullptr) return descriptor;
    descriptor = open_descriptor(path(), direct_);
    // The file may have been replaced since its footer was read.
    if (identity_of(path(), *descriptor) != identity()) throw DataError("the file changed while it was being read", {path()});
    open_files_->keep(this, descriptor);
    return descriptor;
  }

  // Direct reads need aligned offset, length and memory: read the enclosing blocks and copy the middle.
  void read_direct(const FileDescriptor& descriptor, int64_t offset, std::span<uint8_t> target) {
    int64_t begin = offset / kDirectAlignment * kDirectAlignment;
    int64_t end = (offset + static_cast<int64_t>(target.size()) + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
    std::unique_ptr<uint8_t, void (*)(void*)> block(
        static_cast<uint8_t*>(std::aligned_alloc(kDirectAlignment, static_cast<size_t>(end - begin))), std::free);
    if (block == nullptr) throw OutOfMemory(fmt::format("no memory for a direct read of {} bytes of {}", end - begin, path()));
    int64_t got = read_fully(path(), descriptor, begin, {block.get(), static_cast<size_t>(end - begin)}, true);
    if (begin + got < offset + static_cast<int64_t>(target.size())) {
      throw DataError("the file ends early; it was truncated while it was being read", {path(), -1, "", begin + got});
    }
    std::memcpy(target.data(), block.get() + (offset - begin), target.size());
  }

  const bool direct_;
  const std::shared_ptr<OpenFiles> open_files_;
};

}  // namespace

std::shared_ptr<DataFile> open_local_file(const std::string& path, bool direct, std::shared_ptr<OpenFiles> open_files) {
  std::shared_ptr<const FileDescriptor> descriptor = open_descriptor(path, direct);
  FileIdentity identity = identity_of(path, *descriptor);
  if (open_files == nullptr) open_files = std::make_shared<OpenFiles>(1);
  return std::make_shared<LocalFile>(path, std::move(identity), std::move(descriptor), direct, std::move(open_files));
}

}  // namespace pistachio
