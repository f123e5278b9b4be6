// LRU cache of open file descriptors: a table may have more files than a process may open. Shared by the files of a table; a file whose
// descriptor was evicted reopens itself. A descriptor in use stays open until the read ends. Thread-safe. Memory: one entry per descriptor.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace pistachio {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int number() const { return number_; }

 private:
  const int number_;
};

class OpenFiles {
 public:
  explicit OpenFiles(size_t most) : most_(most) {}

  // Nullptr if the owner's descriptor was evicted or never kept.
  std::shared_ptr<const FileDescriptor> find(const void* owner);
  // Replaces an earlier one of the same owner.
  void keep(const void* owner, std::shared_ptr<const FileDescriptor> descriptor);
  void forget(const void* owner);

 private:
  struct Entry {
    const void* owner;
    std::shared_ptr<const FileDescriptor> descriptor;
  };

  const size_t most_;
  std::mutex mutex_;
  // Guarded by mutex_. Most recently used first.
  std::list<Entry> entries_;
  std::unordered_map<const void*, std::list<Entry>::iterator> by_owner_;
};

}  // namespace pistachio
