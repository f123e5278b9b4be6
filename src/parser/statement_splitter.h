// Cuts a text into its statements at the semicolons that are outside quotes and comments. For scripts and for an interactive prompt,
// which must know whether the user has finished. Looks into the text that is given and owns nothing; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pistachio {

struct StatementText {
  std::string_view text;  // from its first to its last token, without the semicolon
  int64_t offset = 0;     // of the text in the whole
};

// Pieces without a token (blank, comments only) are left out. An unfinished last statement is there too.
std::vector<StatementText> split_statements(std::string_view text);

// True when the text needs more lines: a quote or a comment is open, or tokens follow the last semicolon.
bool ends_open(std::string_view text);

}  // namespace pistachio
