// The lines typed at the prompt, in this and earlier sessions. Kept in a file that only its owner can read, one line per entry, to which
// every session appends; truncated when it reaches twice the bound. History is best effort: the first error of the file is logged, later
// ones are ignored. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"

namespace pistachio {

class PromptHistory {
 public:
  static constexpr size_t kMaxLines = 2000;

  // Reads the file. With an empty path nothing is saved.
  explicit PromptHistory(std::string path, Logger logger = Logger());

  // Oldest first.
  const std::vector<std::string>& lines() const { return lines_; }
  // False if the line is not recorded: empty, very long, or a repetition of the last one.
  bool add(const std::string& line);

 private:
  void load();
  void rewrite();
  void append(const std::string& line);
  void give_up(std::string_view what);

  std::string path_;
  Logger logger_;
  std::vector<std::string> lines_;
};

// Below the XDG state folder. Either argument may be null; empty if both are.
std::string history_file_path(const char* state_home, const char* home);

}  // namespace pistachio
