#include "results/output_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "base/error.h"

namespace pistachio {

std::string resolved_output_path(const std::string& path) {
  if (path.empty()) throw UserError("the path to write to is empty");
  if (path.find("://") != std::string::npos) throw UserError(fmt::format("cannot write {}: COPY writes local files only", path));
  std::string plain = path;
  while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  std::unique_ptr<char, void (*)(void*)> found(::realpath(plain.c_str(), nullptr), std::free);
  if (found) return found.get();
  struct stat facts {};
  if (::lstat(plain.c_str(), &facts) == 0) fail_on_path("follow the link", plain);
  return plain;
}

std::string folder_of_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string hidden_path_beside(const std::string& path) {
  constexpr size_t longest = 200;  // of the 255 bytes that a name may have
  const std::string name = path.substr(path.rfind('/') + 1, longest);
  return fmt::format("{}/.{}.{:08x}.part", folder_of_path(path), name, std::random_device()());
}

void fail_on_path(std::string_view what, const std::string& path) {
  const int problem = errno;
  throw UserError(fmt::format("cannot {} {}: {}", what, path, std::strerror(problem)));
}

void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void remove_folder(const std::string& folder) {
  constexpr int most_open_folders = 16;
  auto remove = [](const char* path, const struct stat*, int, FTW*) { return std::remove(path), 0; };
  ::nftw(folder.c_str(), remove, most_open_folders, FTW_DEPTH | FTW_PHYS);
}

}  // namespace pistachio
