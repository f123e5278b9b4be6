#include "cluster/loss_report.h"

#include <dirent.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <vector>

namespace pistachio {

namespace {

constexpr size_t kFilesKept = 16;

// Others may write to the temporary folder, so an existing entry with our name must be a folder of ours.
bool is_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid();
}

// Names start with the time.
void remove_old_files(const std::string& folder) {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  if (!listing) return;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  for (size_t i = 0; i + kFilesKept < names.size(); ++i) ::unlink((folder + "/" + names[i]).c_str());
}

}  // namespace

std::string write_loss_report(const std::string& folder, int rank, const std::string& text) {
  try {
    std::string own = fmt::format("{}/pistachio-{}", folder, ::geteuid());
    if (!is_own_folder(own)) return "";
    auto now = std::chrono::system_clock::now();
    auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() % 1'000'000;
    std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::string path = fmt::format("{}/{:%Y%m%d-%H%M%S}.{:06}-rank{}-{}.txt", own, fmt::gmtime(seconds), microseconds, rank, ::getpid());
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) return "";
    remove_old_files(own);
    return path;
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace pistachio
