#include "storage/file_discovery.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"

namespace pistachio {

namespace {

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

// Files that writers leave beside data (_SUCCESS, .crc) are not data.
bool is_hidden(std::string_view name) {
  return name.empty() || name[0] == '.' || (name[0] == '_' && name.find('=') == std::string_view::npos);
}

bool is_parquet_name(std::string_view name) {
  for (std::string_view ending : {".parquet", ".parq", ".pq"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) return true;
  }
  return false;
}

std::string_view last_component(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  while (true) {
    size_t slash = path.find('/');
    components.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return components;
    path.remove_prefix(slash + 1);
  }
}

bool match_components(std::span<const std::string> pattern, std::span<const std::string> path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**") {
    for (size_t taken = 0; taken <= path.size(); ++taken) {
      if (match_components(pattern.subspan(1), path.subspan(taken))) return true;
    }
    return false;
  }
  return !path.empty() && ::fnmatch(pattern[0].c_str(), path[0].c_str(), 0) == 0 && match_components(pattern.subspan(1), path.subspan(1));
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() && std::sscanf(std::string(text.substr(i + 1, 2)).c_str(), "%2x", &value) == 1) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

// POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that name that crash when others call them.
bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// All regular files below a folder, hidden ones left out.
void list_folder(const std::string& folder, std::vector<std::string>& files) {
  std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.c_str()), ::closedir);
  if (handle == nullptr) throw UserError(fmt::format("cannot list {}: {}", folder, std::strerror(errno)));
  errno = 0;
  while (const dirent* entry = ::readdir(handle.get())) {
    if (is_hidden(entry->d_name)) continue;
    std::string path = folder.ends_with('/') ? folder + entry->d_name : folder + "/" + entry->d_name;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;  // gone meanwhile, or a link to nowhere
    if (S_ISDIR(facts.st_mode)) {
      list_folder(path, files);
    } else if (S_ISREG(facts.st_mode)) {
      files.push_back(std::move(path));
    }
    errno = 0;
  }
  if (errno != 0) throw UserError(fmt::format("cannot list {}: {}", folder, std::strerror(errno)));
}

std::vector<std::string> find_local_files(const std::string& pattern) {
  struct stat facts {};
  bool exists = ::stat(pattern.c_str(), &facts) == 0;
  if (!exists && !has_wildcard(pattern)) {
    if (errno == ENOENT || errno == ENOTDIR) throw UserError(fmt::format("{} does not exist", pattern));
    throw UserError(fmt::format("cannot read {}: {}", pattern, std::strerror(errno)));
  }
  if (exists && !S_ISDIR(facts.st_mode)) return {pattern};
  if (exists) {
    std::vector<std::string> files;
    list_folder(pattern, files);
    std::erase_if(files, [](const std::string& file) { return !is_parquet_name(file); });
    if (files.empty()) throw UserError(fmt::format("the folder {} has no Parquet files (*.parquet, *.parq, *.pq)", pattern));
    return files;
  }
  size_t slash = pattern.rfind('/', pattern.find_first_of("*?["));
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : pattern.substr(0, slash);
  if (!is_folder(folder)) throw UserError(fmt::format("{}: the folder {} does not exist", pattern, folder));
  std::vector<std::string> files;
  list_folder(folder, files);
  if (slash == std::string::npos) {
    for (std::string& file : files) file.erase(0, 2);  // "./"
  }
  std::erase_if(files, [&](const std::string& file) { return !matches_glob(pattern, file); });
  if (files.empty()) throw UserError(fmt::format("no file matches {}", pattern));
  return files;
}

std::vector<std::string> find_objects(ObjectStores& stores, const std::string& pattern) {
  std::vector<std::string> addresses = stores.list(pattern);
  if (addresses.size() == 1 && addresses[0] == pattern) return addresses;
  std::string wanted = without_options(pattern);
  std::erase_if(addresses, [&](const std::string& address) {
    std::string plain = without_options(address);
    if (is_hidden(last_component(plain))) return true;
    return has_wildcard(wanted) ? !matches_glob(wanted, plain) : !is_parquet_name(plain);
  });
  if (addresses.empty()) throw UserError(fmt::format("no Parquet object matches {}", pattern));
  return addresses;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view path) {
  return match_components(components_of(pattern), components_of(path));
}

std::vector<std::pair<std::string, std::string>> partitions_of(std::string_view path) {
  std::vector<std::pair<std::string, std::string>> partitions;
  while (true) {
    size_t slash = path.find('/');
    if (slash == std::string_view::npos) return partitions;
    std::string_view component = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    size_t equals = component.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    partitions.emplace_back(percent_decoded(component.substr(0, equals)), percent_decoded(component.substr(equals + 1)));
  }
}

std::vector<FoundFile> find_files(ObjectStores& stores, const std::string& pattern) {
  if (pattern.empty()) throw UserError("an empty path names no file");
  std::vector<std::string> paths = is_object_address(pattern) ? find_objects(stores, pattern) : find_local_files(pattern);
  std::sort(paths.begin(), paths.end());
  std::vector<FoundFile> files;
  files.reserve(paths.size());
  for (std::string& path : paths) {
    std::vector<std::pair<std::string, std::string>> partitions = partitions_of(is_object_address(path) ? without_options(path) : path);
    files.push_back({std::move(path), std::move(partitions)});
  }
  return files;
}

}  // namespace pistachio
