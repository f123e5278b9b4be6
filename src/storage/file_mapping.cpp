#include "storage/file_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace pistachio {

FileMapping::~FileMapping() {
  ::munmap(address_, static_cast<size_t>(bytes_));
}

bool FileMapping::is_cached(int64_t offset, int64_t length) const {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  std::vector<unsigned char> pages(static_cast<size_t>((length + page - 1) / page));
  if (::mincore(static_cast<char*>(address_) + offset, static_cast<size_t>(length), pages.data()) != 0) return false;
  return std::all_of(pages.begin(), pages.end(), [](unsigned char state) { return (state & 1) != 0; });
}

}  // namespace pistachio
