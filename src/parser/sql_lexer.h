// Cuts SQL text into tokens as PostgreSQL does, where it matters to us: what is text, name, number, comment, and where each begins.
// Used to split statements, to bound their size before libpg_query sees them, and to rewrite what PostgreSQL does not know.
// A lexer belongs to one thread; it looks into the text and owns nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pistachio {

struct Token {
  // Text: '..', E'..', B'..', X'..', N'..', U&'..', $tag$..$tag$. Symbol: one sign that is no operator, as ( ) [ ] , ; . or ::
  enum class Kind { Word, QuotedName, Text, Number, Parameter, Operator, Symbol };
  Kind kind = Kind::Symbol;
  int64_t begin = 0;
  int64_t end = 0;
};

// A quote or comment that the text never closes.
struct OpenEnd {
  const char* what = "";
  int64_t position = 0;
};

class SqlLexer {
 public:
  explicit SqlLexer(std::string_view text, int64_t start = 0) : text_(text), at_(start) {}

  // False at the end, also when the rest is an open quote or comment; open_end() tells.
  bool next(Token& token);
  const std::optional<OpenEnd>& open_end() const { return open_end_; }

 private:
  bool skip_blanks();
  bool skip_block_comment();
  bool read_text(int64_t quote, bool backslash_escapes);
  bool read_quoted_name(int64_t quote);
  bool read_dollar(Token& token);
  void read_number();
  void read_operator();
  bool read_prefixed(Token& token);
  int64_t continued_text(int64_t after_quote) const;
  bool fail_open(const char* what, int64_t position);
  char peek(int64_t ahead = 0) const;
  int64_t size() const { return static_cast<int64_t>(text_.size()); }

  std::string_view text_;
  int64_t at_;
  std::optional<OpenEnd> open_end_;
};

inline std::string_view token_text(std::string_view text, const Token& token) {
  return text.substr(static_cast<size_t>(token.begin), static_cast<size_t>(token.end - token.begin));
}

// An unquoted word, compared without regard to case. `word` is lower case.
bool is_word(std::string_view text, const Token& token, std::string_view word);
// The symbol or operator with exactly this text.
bool is_sign(std::string_view text, const Token& token, std::string_view sign);

// ASCII only, as PostgreSQL folds names in UTF-8.
std::string lower_case(std::string_view text);
// What a name token means: an unquoted one in lower case, a quoted one without its quotes.
std::string name_of_token(std::string_view text, const Token& token);
// What a '..' or $tag$..$tag$ token means; nothing for the kinds with a prefix letter.
std::optional<std::string> value_of_text_token(std::string_view text, const Token& token);

}  // namespace pistachio
