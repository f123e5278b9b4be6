// What the word at the cursor could become: keywords, functions, tables, and after SET, RESET or SHOW settings. Everything comes from the
// tables that the engine itself uses. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

struct CompletionResult {
  size_t word_bytes = 0;                // of the line before the cursor, which a candidate takes the place of
  std::vector<std::string> candidates;  // sorted, each once
};

class SqlCompletion {
 public:
  explicit SqlCompletion(std::function<std::vector<std::string>()> table_names) : table_names_(std::move(table_names)) {}

  // Of the line up to the cursor.
  CompletionResult complete(std::string_view line) const;

 private:
  std::function<std::vector<std::string>()> table_names_;
};

// What all candidates begin with.
std::string common_begin(const std::vector<std::string>& candidates);

}  // namespace pistachio
