// A whole file mapped read-only. The host must not read it: a file that was truncated meanwhile would end the process by SIGBUS. Devices may
// copy from pages registered with them, which stay as they are.
#pragma once

#include <cstdint>

namespace pistachio {

class FileMapping {
 public:
  // Takes over a mapping made by mmap().
  FileMapping(void* address, int64_t bytes) : address_(address), bytes_(bytes) {}
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  void* address() const { return address_; }
  int64_t bytes() const { return bytes_; }
  // Whether all pages of the range, which starts at a page boundary, are in the page cache.
  bool is_cached(int64_t offset, int64_t length) const;

 private:
  void* const address_;
  const int64_t bytes_;
};

}  // namespace pistachio
