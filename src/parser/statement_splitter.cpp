// See statement_splitter.h.
#include "parser/statement_splitter.h"

#include "parser/sql_lexer.h"

namespace pistachio {

namespace {

StatementText piece(std::string_view text, int64_t begin, int64_t end) {
  return {text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), begin};
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

bool ends_open(std::string_view text) {
  SqlLexer lexer(text);
  Token token;
  bool finished = true;
  while (lexer.next(token)) finished = is_sign(text, token, ";");
  return !finished || lexer.open_end().has_value();
}

}  // namespace pistachio
