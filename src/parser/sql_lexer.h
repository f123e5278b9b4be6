// Splits SQL text into tokens as PostgreSQL does, as far as needed here: texts, names, numbers, comments and their positions.
// Used to split statements, to check their size before libpg_query sees them, and to rewrite our extensions.
// Not thread-safe; refers to the text.
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

// An unterminated quote or comment.
struct OpenEnd {
  const char* what = "";
  int64_t position = 0;
};

class SqlLexer {
 public:
  explicit SqlLexer(std::string_view text, int64_t start = 0) : text_(text), at_(start) {}

  // False at the end, also if the rest is an unterminated quote or comment; see open_end().
  bool next(Token& token);
  const std::optional<OpenEnd>& open_end() const { return open_end_; }

 private:
  bool skip_blanks();
  bool skip_block_comment();
  bool read_text(int64_t quote, bool backslash_escapes);
  bool read_quoted_name(int64_t quote);
  bool read_dollar(Token& token);
  void read_number();
  void read_digits();
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

// Whether the token is this unquoted word, ignoring case. `word` is lower case.
bool is_word(std::string_view text, const Token& token, std::string_view word);
// Whether the token is exactly this symbol or operator.
bool is_sign(std::string_view text, const Token& token, std::string_view sign);

// ASCII only, as PostgreSQL folds names in UTF-8.
std::string lower_case(std::string_view text);
// The name of a name token: folded to lower case, or without its quotes.
std::string name_of_token(std::string_view text, const Token& token);
// The value of a '..' or $tag$..$tag$ token; nullopt for the kinds with a prefix letter.
std::optional<std::string> value_of_text_token(std::string_view text, const Token& token);

}  // namespace pistachio
