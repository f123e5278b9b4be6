// Cuts a text into its statements at the semicolons that are outside quotes and comments. For scripts and for an interactive prompt,
// which must know whether the user has finished. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pistachio {

// Looks into the text that was given.
struct StatementText {
  std::string_view text;  // from its first to its last token, without the semicolon
  int64_t offset = 0;     // of the text in the whole
};

// Pieces without a token (blank, comments only) are left out. An unfinished last statement is there too.
std::vector<StatementText> split_statements(std::string_view text);

// Statements that arrive line by line. However many lines one has, each is read once: only a quote or comment over several lines is read
// again, by lines that may close it.
class StatementLines {
 public:
  // Without the line's end.
  void add(std::string_view line);
  // More lines must follow: a quote or a comment is open, or tokens follow the last semicolon.
  bool is_open() const { return !ends_statement_ || !closing_sign_.empty(); }
  const std::string& text() const { return text_; }
  void clear() { *this = {}; }

 private:
  std::string text_;
  int64_t unread_ = 0;             // where reading goes on: all tokens before are known
  bool ends_statement_ = true;     // there is no token behind the last semicolon
  std::string_view closing_sign_;  // without it a line cannot close what is open; empty: nothing is
};

}  // namespace pistachio
