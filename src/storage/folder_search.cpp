#include "storage/folder_search.h"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "storage/file_discovery.h"

namespace pistachio {

namespace {

std::string path_in(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  bool is_link = false;
};

// Nothing for what is neither a file nor a folder. readdir() reports the kind, except for links and on file systems that do not know it.
std::optional<FolderEntry> entry_of(const dirent& listed, const std::string& folder) {
  if (listed.d_type == DT_REG || listed.d_type == DT_DIR) return FolderEntry{listed.d_name, listed.d_type == DT_DIR};
  if (listed.d_type != DT_LNK && listed.d_type != DT_UNKNOWN) return std::nullopt;
  const std::string path = path_in(folder, listed.d_name);
  struct stat link {};
  struct stat target {};
  if (::lstat(path.c_str(), &link) != 0) return std::nullopt;  // deleted meanwhile
  // A dangling link is listed: opening it gives an error, while leaving it out would silently leave out rows.
  if (::stat(path.c_str(), &target) != 0) return FolderEntry{listed.d_name, false, true};
  if (!S_ISDIR(target.st_mode) && !S_ISREG(target.st_mode)) return std::nullopt;
  return FolderEntry{listed.d_name, S_ISDIR(target.st_mode), S_ISLNK(link.st_mode)};
}

// Entries of a folder (empty: the current one), sorted by name so that searches are deterministic.
std::vector<FolderEntry> entries_of(const std::string& folder, const CancelToken& token) {
  std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.empty() ? "." : folder.c_str()), ::closedir);
  if (handle == nullptr) throw UserError(fmt::format("cannot list {}: {}", folder, std::strerror(errno)));
  std::vector<FolderEntry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(handle.get())) {
    token.throw_if_cancelled();
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      if (std::optional<FolderEntry> known = entry_of(*entry, folder)) entries.push_back(std::move(*known));
    }
    errno = 0;
  }
  if (errno != 0) throw UserError(fmt::format("cannot list {}: {}", folder, std::strerror(errno)));
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& left, const FolderEntry& right) { return left.name < right.name; });
  return entries;
}

// One search. A folder is searched once for each list of partition values that lead to it: `latest -> day=2` beside day=2 adds nothing, while
// `day=9 -> day=2` is another partition. Links without a partition value come last, so that a folder has its own name if it has several.
class FileSearch {
 public:
  explicit FileSearch(const CancelToken& token) : token_(token) {}

  std::vector<std::string> take_files() { return std::move(files_); }

  // All regular files below a folder, except hidden ones.
  void add_folder(const std::string& folder) {
    add_all_below(folder);
    while (!links_.empty()) {
      const Link link = std::move(links_.back());
      links_.pop_back();
      if (!is_reached(link.path, 0)) add_all_below(link.path);
    }
  }

  // The regular files below a folder that match a pattern.
  void add_glob(const std::string& folder, std::span<const std::string> pattern) {
    root_ = inode_of(folder);
    add_matches(folder, pattern);
    while (!links_.empty()) {
      const Link link = std::move(links_.back());
      links_.pop_back();
      if (!is_reached(link.path, link.pattern.size())) add_matches_at_any_depth(link.path, link.pattern);
    }
  }

 private:
  using Inode = std::pair<dev_t, ino_t>;
  using Partitions = std::vector<std::pair<std::string, std::string>>;

  // A link to a folder, to be followed at the end.
  struct Link {
    std::string path;
    std::span<const std::string> pattern;
  };

  void add_all_below(const std::string& folder) {
    if (!is_new(folder, 0)) return;
    for (const FolderEntry& entry : entries_of(folder, token_)) {
      if (is_hidden(entry.name)) continue;
      std::string path = path_in(folder, entry.name);
      if (!entry.is_folder) {
        files_.push_back(std::move(path));
      } else if (is_plain_link(entry)) {
        links_.push_back({std::move(path), {}});
      } else {
        add_all_below(path);
      }
    }
  }

  static bool is_plain_link(const FolderEntry& entry) { return entry.is_link && entry.name.find('=') == std::string::npos; }

  static std::optional<Inode> inode_of(const std::string& folder) {
    struct stat facts {};
    if (::stat(folder.empty() ? "." : folder.c_str(), &facts) != 0) return std::nullopt;
    return Inode(facts.st_dev, facts.st_ino);
  }

  // `pattern_left`: a search may legitimately reach the same folder at different positions of the pattern.
  bool is_new(const std::string& folder, size_t pattern_left) {
    const std::optional<Inode> inode = inode_of(folder);
    if (!inode) return false;
    reached_.insert({*inode, pattern_left});
    return visited_.insert({*inode, pattern_left, partitions_of(folder + "/")}).second;
  }

  bool is_reached(const std::string& folder, size_t pattern_left) const {
    const std::optional<Inode> inode = inode_of(folder);
    return !inode || inode == root_ || reached_.contains({*inode, pattern_left});
  }

  // Only opens folders that the pattern can match.
  void add_matches(const std::string& folder, std::span<const std::string> pattern) {
    if (pattern[0] == "**") return add_matches_at_any_depth(folder, pattern);
    if (has_wildcard(pattern[0])) return add_matching_entries(folder, entries_of(folder, token_), pattern);
    const std::string path = path_in(folder, pattern[0]);
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0 && (S_ISDIR(facts.st_mode) || S_ISREG(facts.st_mode)))
      add_match(path, S_ISDIR(facts.st_mode), pattern);
  }

  // `path`, a folder or a regular file, matches the first component.
  void add_match(const std::string& path, bool is_folder, std::span<const std::string> pattern) {
    if (is_folder && pattern.size() > 1) {
      add_matches(path, pattern.subspan(1));
    } else if (!is_folder && pattern.size() == 1) {
      files_.push_back(path);
    }
  }

  void add_matching_entries(const std::string& folder, const std::vector<FolderEntry>& entries, std::span<const std::string> pattern) {
    for (const FolderEntry& entry : entries) {
      if (!is_left_out(pattern[0], entry.name) && ::fnmatch(pattern[0].c_str(), entry.name.c_str(), 0) == 0)
        add_match(path_in(folder, entry.name), entry.is_folder, pattern);
    }
  }

  void add_matches_at_any_depth(const std::string& folder, std::span<const std::string> pattern) {
    if (!is_new(folder, pattern.size())) return;
    const std::span<const std::string> rest = pattern.subspan(1);
    const std::vector<FolderEntry> entries = entries_of(folder, token_);
    // Listed once for both.
    if (has_wildcard(rest[0]) && rest[0] != "**") {
      add_matching_entries(folder, entries, rest);
    } else {
      add_matches(folder, rest);
    }
    for (const FolderEntry& entry : entries) {
      if (!entry.is_folder || is_hidden(entry.name)) continue;
      if (is_plain_link(entry)) {
        links_.push_back({path_in(folder, entry.name), pattern});
      } else {
        add_matches_at_any_depth(path_in(folder, entry.name), pattern);
      }
    }
  }

  const CancelToken& token_;
  std::vector<std::string> files_;
  std::optional<Inode> root_;  // of a pattern
  std::vector<Link> links_;
  // With the number of components of the pattern that are left.
  std::set<std::pair<Inode, size_t>> reached_;
  std::set<std::tuple<Inode, size_t, Partitions>> visited_;
};

}  // namespace

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool is_hidden(std::string_view name) {
  return name.empty() || name[0] == '.' || (name[0] == '_' && name.find('=') == std::string_view::npos);
}

bool is_left_out(std::string_view pattern, std::string_view name) {
  return is_hidden(name) && (name.empty() || pattern.empty() || pattern[0] != name[0]);
}

std::vector<std::string> files_below(const std::string& folder, const CancelToken& token) {
  FileSearch search(token);
  search.add_folder(folder);
  return search.take_files();
}

std::vector<std::string> files_matching(const std::string& folder, std::span<const std::string> pattern, const CancelToken& token) {
  FileSearch search(token);
  search.add_glob(folder, pattern);
  return search.take_files();
}

}  // namespace pistachio
