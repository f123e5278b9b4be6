// See statement_splitter.h.
#include "parser/statement_splitter.h"

#include "parser/sql_lexer.h"

namespace pistachio {

namespace {

StatementText piece(std::string_view text, int64_t begin, int64_t end) {
  return {text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), begin};
}

// For a quote, with or without a prefix letter, or a comment.
std::string_view sign_that_closes(std::string_view open) {
  if (open.front() == '/') return "*/";
  switch (open[open.find_first_of("'\"$")]) {
    case '\'': return "'";
    case '"': return "\"";
    default: return "$";
  }
}

}  // namespace

std::vector<StatementText> split_statements(std::string_view text) {
  std::vector<StatementText> statements;
  SqlLexer lexer(text);
  Token token;
  int64_t begin = -1;
  int64_t end = -1;
  while (lexer.next(token)) {
    if (is_sign(text, token, ";")) {
      if (begin >= 0) statements.push_back(piece(text, begin, end));
      begin = -1;
      continue;
    }
    if (begin < 0) begin = token.begin;
    end = token.end;
  }
  if (lexer.open_end()) {
    if (begin < 0) begin = lexer.open_end()->position;
    end = static_cast<int64_t>(text.size());
  }
  if (begin >= 0) statements.push_back(piece(text, begin, end));
  return statements;
}

void StatementLines::add(std::string_view line) {
  text_.append(line).push_back('\n');
  if (!closing_sign_.empty() && line.find(closing_sign_) == std::string_view::npos) return;
  SqlLexer lexer(text_, unread_);
  Token token;
  // A text may continue on the next line, so it is lexed again with that line. No other token does.
  bool may_go_on = false;
  while (lexer.next(token)) {
    ends_statement_ = is_sign(text_, token, ";");
    may_go_on = token.kind == Token::Kind::Text;
    if (may_go_on) unread_ = token.begin;
  }
  closing_sign_ = {};
  if (lexer.open_end()) {
    unread_ = lexer.open_end()->position;
    closing_sign_ = sign_that_closes(std::string_view(text_).substr(static_cast<size_t>(unread_)));
  } else if (!may_go_on) {
    unread_ = static_cast<int64_t>(text_.size());
  }
}

}  // namespace pistachio
