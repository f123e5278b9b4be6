#include "frontend/cli/prompt_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace pistachio {

namespace {

constexpr mode_t kOnlyOwner = S_IRUSR | S_IWUSR;
// Longer lines are pasted data, not worth keeping.
constexpr size_t kLongestLine = 16 << 10;

// One write call, so that lines of concurrent sessions do not interleave.
bool write_all(int descriptor, std::string_view text) {
  return descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Creates the folders of a file, for its owner only. POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that
// name that crash when others call them.
bool make_history_folder(const std::string& file) {
  struct stat facts {};
  for (size_t end = file.find('/', 1); end != std::string::npos; end = file.find('/', end + 1)) {
    std::string folder = file.substr(0, end);
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return false;
    if (::stat(folder.c_str(), &facts) != 0) return false;
    if (!S_ISDIR(facts.st_mode)) {
      errno = ENOTDIR;
      return false;
    }
  }
  return true;
}

// Closes the descriptor in any case.
bool write_and_close(int descriptor, std::string_view text) {
  bool written = write_all(descriptor, text);
  int problem = errno;
  if (descriptor >= 0 && ::close(descriptor) != 0) return false;
  errno = problem;
  return written;
}

}  // namespace

PromptHistory::PromptHistory(std::string path, Logger logger) : path_(std::move(path)), logger_(std::move(logger)) {
  load();
}

void PromptHistory::load() {
  if (path_.empty()) return;
  if (!make_history_folder(path_)) return give_up("make the folder of");
  std::ifstream file(path_, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.size() <= kLongestLine) lines_.push_back(std::move(line));
  }
  if (lines_.size() <= kMaxLines) return;
  bool has_grown = lines_.size() > 2 * kMaxLines;
  lines_.erase(lines_.begin(), lines_.end() - kMaxLines);
  if (has_grown) rewrite();
}

// Through a new file and a rename: concurrent readers see either the whole old file or the whole new one.
void PromptHistory::rewrite() {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  std::string fresh = path_ + "." + std::to_string(::getpid());
  if (!write_and_close(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOnlyOwner), text) ||
      ::rename(fresh.c_str(), path_.c_str()) != 0) {
    give_up("cut");
    ::unlink(fresh.c_str());
  }
}

bool PromptHistory::add(const std::string& line) {
  bool is_blank = line.find_first_not_of(" \t") == std::string::npos;
  if (is_blank || line.size() > kLongestLine || (!lines_.empty() && lines_.back() == line)) return false;
  lines_.push_back(line);
  append(line);
  return true;
}

void PromptHistory::append(const std::string& line) {
  if (path_.empty()) return;
  int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOnlyOwner);
  if (!write_and_close(descriptor, line + "\n")) give_up("write");
}

void PromptHistory::give_up(std::string_view what) {
  std::string problem = std::strerror(errno);
  logger_.warning(fmt::format("cannot {} the history of the prompt", what), {{"file", path_}, {"problem", problem}});
  path_.clear();
}

std::string history_file_path(const char* state_home, const char* home) {
  constexpr const char* kFile = "/pistachio/history";
  if (state_home != nullptr && state_home[0] == '/') return std::string(state_home) + kFile;
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state" + kFile;
  return "";
}

}  // namespace pistachio
