#include "storage/file_discovery.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "base/error.h"
#include "storage/folder_search.h"

namespace pistachio {

namespace {

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

// Several ** could match a path in very many ways: for each component of the pattern, only which prefixes of the path match is kept.
bool match_components(std::span<const std::string> pattern, std::span<const std::string> path) {
  std::vector<bool> matches(path.size() + 1, false);  // [n]: the first n components of the path match the pattern so far
  matches[0] = true;
  for (const std::string& component : pattern) {
    if (component == "**") {
      for (size_t count = 1; count <= path.size(); ++count) matches[count] = matches[count] || matches[count - 1];
      continue;
    }
    for (size_t count = path.size(); count > 0; --count)
      matches[count] = matches[count - 1] && ::fnmatch(component.c_str(), path[count - 1].c_str(), 0) == 0;
    matches[0] = false;
  }
  return matches.back();
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    // Anything but a percent sign with two hex digits is literal.
    const char* digits = text.data() + i + 1;
    int value = 0;
    bool is_escape = text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(digits[0])) &&
                     std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    decoded += is_escape ? static_cast<char>(value) : text[i];
    if (is_escape) i += 2;
  }
  return decoded;
}

// POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that name that crash when others call them.
bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::vector<std::string> find_in_folder(const std::string& folder, const CancelToken& token) {
  std::vector<std::string> files = files_below(folder, token);
  std::erase_if(files, [](const std::string& file) { return !is_parquet_name(file); });
  if (files.empty()) throw UserError(fmt::format("the folder {} has no Parquet files (*.parquet, *.parq, *.pq)", folder));
  return files;
}

std::vector<std::string> find_by_glob(const std::string& pattern, const CancelToken& token) {
  size_t slash = pattern.rfind('/', pattern.find_first_of("*?["));
  std::string folder = slash == std::string::npos ? "" : slash == 0 ? "/" : pattern.substr(0, slash);
  if (!folder.empty() && !is_folder(folder)) throw UserError(fmt::format("{}: the folder {} does not exist", pattern, folder));
  std::vector<std::string> components = components_of(std::string_view(pattern).substr(slash == std::string::npos ? 0 : slash + 1));
  if (components.back() == "**") components.push_back("*");  // every file below
  std::vector<std::string> files = files_matching(folder, components, token);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  if (files.empty()) throw UserError(fmt::format("no file matches {}", pattern));
  return files;
}

// Rejects addresses with an unsupported scheme.
void refuse_unknown_scheme(const std::string& pattern) {
  size_t colon = pattern.find("://");
  if (colon == std::string::npos || colon == 0 ||
      !std::all_of(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(colon),
                   [](unsigned char letter) { return std::isalnum(letter) || letter == '+' || letter == '-' || letter == '.'; }))
    return;
  throw UserError(fmt::format("{}:// addresses cannot be read; files are named by a path or by file://, s3://, gs:// or abfs://",
                              pattern.substr(0, colon)));
}

// file:///data/x.parquet and file://localhost/data/x.parquet.
std::string path_of_address(const std::string& address) {
  constexpr std::string_view scheme = "file://";
  if (!address.starts_with(scheme)) return address;
  std::string path = percent_decoded(std::string_view(address).substr(scheme.size()));
  constexpr std::string_view here = "localhost/";
  if (path.starts_with(here)) path.erase(0, here.size() - 1);
  if (!path.starts_with('/')) throw UserError(fmt::format("{}: after file:// comes an absolute path, as in file:///data/x.parquet", address));
  return path;
}

std::vector<std::string> find_local_files(const std::string& pattern, const CancelToken& token) {
  struct stat facts {};
  bool exists = ::stat(pattern.c_str(), &facts) == 0;
  if (exists && S_ISDIR(facts.st_mode)) return find_in_folder(pattern, token);
  if (exists) return {pattern};
  refuse_unknown_scheme(pattern);
  if (has_wildcard(pattern)) return find_by_glob(pattern, token);
  if (::stat(pattern.c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR)) throw UserError(fmt::format("{} does not exist", pattern));
  throw UserError(fmt::format("cannot read {}: {}", pattern, std::strerror(errno)));
}

std::vector<std::string> find_objects(ObjectStores& stores, const std::string& pattern, const CancelToken& token) {
  std::vector<std::string> addresses = stores.list(pattern, token);
  if (addresses.size() == 1 && addresses[0] == pattern) return addresses;
  std::string wanted = without_options(pattern);
  std::erase_if(addresses, [&](const std::string& address) {
    std::string plain = without_options(address);
    std::string_view name = last_component(plain);
    return has_wildcard(wanted) ? is_left_out(last_component(wanted), name) || !matches_glob(wanted, plain)
                                : is_hidden(name) || !is_parquet_name(plain);
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
    std::string key = percent_decoded(component.substr(0, equals));
    if (std::any_of(partitions.begin(), partitions.end(), [&](const auto& known) { return known.first == key; })) continue;
    partitions.emplace_back(std::move(key), percent_decoded(component.substr(equals + 1)));
  }
}

std::vector<FoundFile> find_files(ObjectStores& stores, const std::string& pattern, const CancelToken& token) {
  if (pattern.empty()) throw UserError("an empty path names no file");
  std::vector<std::string> paths =
      is_object_address(pattern) ? find_objects(stores, pattern, token) : find_local_files(path_of_address(pattern), token);
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
