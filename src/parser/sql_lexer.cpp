// Follows PostgreSQL 15's scan.l with standard_conforming_strings on. Token boundaries must always agree with it: if a quote or comment
// were seen differently, a rewrite could change the inside of a text. See sql_lexer.h.
#include "parser/sql_lexer.h"

namespace pistachio {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_tag_part(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_name_part(char c) {
  return is_tag_part(c) || c == '$';
}
bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f' || is_line_end(c);
}
bool is_operator(char c) {
  return c != '\0' && std::string_view("~!@#^&|`?+-*/%<>=").find(c) != std::string_view::npos;
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// 'a''b' -> a'b
std::string without_doubled(std::string_view inner, char quote) {
  std::string value;
  value.reserve(inner.size());
  for (size_t i = 0; i < inner.size(); ++i) {
    value.push_back(inner[i]);
    if (inner[i] == quote) ++i;
  }
  return value;
}

}  // namespace

char SqlLexer::peek(int64_t ahead) const {
  const int64_t position = at_ + ahead;
  return position < size() ? text_[static_cast<size_t>(position)] : '\0';
}

bool SqlLexer::fail_open(const char* what, int64_t position) {
  open_end_ = OpenEnd{what, position};
  at_ = size();
  return false;
}

bool SqlLexer::skip_block_comment() {
  const int64_t begin = at_;
  int64_t depth = 0;
  while (at_ < size()) {
    if (peek() == '/' && peek(1) == '*') {
      ++depth;
      at_ += 2;
    } else if (peek() == '*' && peek(1) == '/') {
      at_ += 2;
      if (--depth == 0) return true;
    } else {
      ++at_;
    }
  }
  return fail_open("comment", begin);
}

bool SqlLexer::skip_blanks() {
  while (at_ < size()) {
    if (is_blank(peek())) {
      ++at_;
    } else if (peek() == '-' && peek(1) == '-') {
      while (at_ < size() && !is_line_end(peek())) ++at_;
    } else if (peek() == '/' && peek(1) == '*') {
      if (!skip_block_comment()) return false;
    } else {
      return true;
    }
  }
  return true;
}

// 'a' <line end> 'b' is one text. Returns where the next quote is, or -1.
int64_t SqlLexer::continued_text(int64_t after_quote) const {
  bool line_ended = false;
  int64_t at = after_quote;
  while (at < size()) {
    const char c = text_[static_cast<size_t>(at)];
    if (is_blank(c)) {
      line_ended = line_ended || is_line_end(c);
      ++at;
    } else if (c == '-' && at + 1 < size() && text_[static_cast<size_t>(at + 1)] == '-') {
      while (at < size() && !is_line_end(text_[static_cast<size_t>(at)])) ++at;
    } else {
      return c == '\'' && line_ended ? at : -1;
    }
  }
  return -1;
}

bool SqlLexer::read_text(int64_t quote, bool backslash_escapes) {
  const int64_t begin = at_;
  at_ = quote + 1;
  while (at_ < size()) {
    const char c = peek();
    if (c == '\\' && backslash_escapes) {
      at_ += 2;
    } else if (c != '\'') {
      ++at_;
    } else if (peek(1) == '\'') {
      at_ += 2;
    } else {
      const int64_t next_quote = continued_text(at_ + 1);
      at_ = (next_quote < 0 ? at_ : next_quote) + 1;
      if (next_quote < 0) return true;
    }
  }
  return fail_open("quoted string", begin);
}

bool SqlLexer::read_quoted_name(int64_t quote) {
  const int64_t begin = at_;
  at_ = quote + 1;
  while (at_ < size()) {
    if (peek() != '"') {
      ++at_;
    } else if (peek(1) == '"') {
      at_ += 2;
    } else {
      ++at_;
      return true;
    }
  }
  return fail_open("quoted identifier", begin);
}

// $1, $$text$$, $tag$text$tag$
bool SqlLexer::read_dollar(Token& token) {
  const int64_t begin = at_++;
  if (is_digit(peek())) {
    while (is_digit(peek())) ++at_;
    token.kind = Token::Kind::Parameter;
    return true;
  }
  if (is_name_start(peek())) {
    while (is_tag_part(peek())) ++at_;
  }
  if (peek() != '$') {
    at_ = begin + 1;
    token.kind = Token::Kind::Symbol;
    return true;
  }
  ++at_;
  const std::string_view tag = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(at_ - begin));
  const size_t closing = text_.find(tag, static_cast<size_t>(at_));
  if (closing == std::string_view::npos) return fail_open("dollar-quoted string", begin);
  at_ = static_cast<int64_t>(closing + tag.size());
  token.kind = Token::Kind::Text;
  return true;
}

// Digits, also separated: 1_000.
void SqlLexer::read_digits() {
  while (is_digit(peek()) || (peek() == '_' && is_digit(peek(-1)) && is_digit(peek(1)))) ++at_;
}

void SqlLexer::read_number() {
  read_digits();
  if (peek() == '.' && peek(1) != '.') {
    ++at_;
    read_digits();
  }
  if (lower(peek()) == 'e') {
    const int64_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (is_digit(peek(1 + sign))) {
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
  }
}

void SqlLexer::read_operator() {
  do {
    ++at_;
  } while (is_operator(peek()) && !(peek() == '-' && peek(1) == '-') && !(peek() == '/' && peek(1) == '*'));
}

// Words, and texts and names that start with a letter: E'..', U&"..".
bool SqlLexer::read_prefixed(Token& token) {
  const char first = lower(peek());
  if (peek(1) == '\'' && (first == 'e' || first == 'n' || first == 'b' || first == 'x')) {
    token.kind = Token::Kind::Text;
    return read_text(at_ + 1, first == 'e');
  }
  if (first == 'u' && peek(1) == '&' && peek(2) == '\'') {
    token.kind = Token::Kind::Text;
    return read_text(at_ + 2, false);
  }
  if (first == 'u' && peek(1) == '&' && peek(2) == '"') {
    token.kind = Token::Kind::QuotedName;
    return read_quoted_name(at_ + 2);
  }
  while (is_name_part(peek())) ++at_;
  token.kind = Token::Kind::Word;
  return true;
}

bool SqlLexer::next(Token& token) {
  if (!skip_blanks() || at_ >= size()) return false;
  token.begin = at_;
  const char c = peek();
  bool complete = true;
  if (is_name_start(c)) {
    complete = read_prefixed(token);
  } else if (c == '\'') {
    token.kind = Token::Kind::Text;
    complete = read_text(at_, false);
  } else if (c == '"') {
    token.kind = Token::Kind::QuotedName;
    complete = read_quoted_name(at_);
  } else if (c == '$') {
    complete = read_dollar(token);
  } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
    token.kind = Token::Kind::Number;
    read_number();
  } else if (is_operator(c)) {
    token.kind = Token::Kind::Operator;
    read_operator();
  } else {
    token.kind = Token::Kind::Symbol;
    at_ += c == ':' && peek(1) == ':' ? 2 : 1;
  }
  token.end = at_;
  return complete;
}

bool is_word(std::string_view text, const Token& token, std::string_view word) {
  if (token.kind != Token::Kind::Word || token.end - token.begin != static_cast<int64_t>(word.size())) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (lower(text[static_cast<size_t>(token.begin) + i]) != word[i]) return false;
  }
  return true;
}

bool is_sign(std::string_view text, const Token& token, std::string_view sign) {
  return (token.kind == Token::Kind::Symbol || token.kind == Token::Kind::Operator) && token_text(text, token) == sign;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

std::string name_of_token(std::string_view text, const Token& token) {
  const std::string_view written = token_text(text, token);
  if (token.kind != Token::Kind::QuotedName) return lower_case(written);
  return without_doubled(written.substr(1, written.size() - 2), '"');
}

std::optional<std::string> value_of_text_token(std::string_view text, const Token& token) {
  const std::string_view written = token_text(text, token);
  if (token.kind != Token::Kind::Text || written.empty()) return std::nullopt;
  if (written.front() == '$') {
    const size_t tag = written.find('$', 1) + 1;
    return std::string(written.substr(tag, written.size() - 2 * tag));
  }
  if (written.front() != '\'') return std::nullopt;
  std::string value;
  // Several pieces if the text continues after a line break; only blanks and comments are between them.
  size_t begin = 0;
  while (begin != std::string_view::npos) {
    size_t end = begin + 1;
    while (written[end] != '\'' || (end + 1 < written.size() && written[end + 1] == '\'')) end += written[end] == '\'' ? 2 : 1;
    value += without_doubled(written.substr(begin + 1, end - begin - 1), '\'');
    begin = end + 1;
    while (begin < written.size() && written[begin] != '\'') {
      if (written[begin] == '-') begin = written.find_first_of("\r\n", begin);
      ++begin;
    }
    if (begin >= written.size()) begin = std::string_view::npos;
  }
  return value;
}

}  // namespace pistachio
