#include "frontend/bench/file_paths.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.h"

namespace pistachio {

bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

void make_folders(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) != 0 && !is_folder(part)) {
      throw UserError(fmt::format("cannot make the folder {}: {}", part, std::strerror(errno)));
    }
    if (slash == std::string::npos) return;
  }
}

std::string absolute_path(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[PATH_MAX];
  if (::getcwd(here, sizeof(here)) == nullptr) throw UserError(fmt::format("the working directory is gone: {}", std::strerror(errno)));
  return fmt::format("{}/{}", here, path);
}

std::string last_name(const std::string& path) {
  size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return path;
  size_t slash = path.rfind('/', end);
  size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(begin, end + 1 - begin);
}

std::string name_without_ending(const std::string& path) {
  std::string name = last_name(path);
  size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string folder_above(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string quoted_path(const std::string& path) {
  std::string text = "'";
  for (char letter : path) {
    if (letter == '\'') text += '\'';
    text += letter;
  }
  return text + "'";
}

}  // namespace pistachio
