// The lines that were typed at the prompt, now and in earlier sessions. In a file that only its owner may read, a line of the file for
// each, to which every session appends; it is cut when it has grown to twice the bound. The prompt matters more than its history: what goes
// wrong with the file is logged once and forgotten. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"

namespace pistachio {

class PromptHistory {
 public:
  static constexpr size_t kMostLines = 2000;

  // Reads the file. An empty path: nothing is kept.
  explicit PromptHistory(std::string path, Logger logger = Logger());

  // Oldest first.
  const std::vector<std::string>& lines() const { return lines_; }
  // False if it is not worth remembering: empty, very long, or the same again.
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

// Below the folder for state of the XDG specification. Either argument may be null; empty when both are.
std::string history_file_path(const char* state_home, const char* home);

}  // namespace pistachio
