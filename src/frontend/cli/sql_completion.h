// Completions of the word at the cursor: keywords, functions, tables, and settings after SET, RESET or SHOW, all taken from the engine's
// own tables. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

struct CompletionResult {
  size_t word_bytes = 0;                // bytes before the cursor that a candidate replaces
  std::vector<std::string> candidates;  // sorted, without duplicates
};

class SqlCompletion {
 public:
  explicit SqlCompletion(std::function<std::vector<std::string>()> table_names) : table_names_(std::move(table_names)) {}

  // `line` ends at the cursor.
  CompletionResult complete(std::string_view line) const;

 private:
  std::function<std::vector<std::string>()> table_names_;
};

// The longest common prefix of all candidates.
std::string common_begin(const std::vector<std::string>& candidates);

}  // namespace pistachio
