// See parse.h.
#include "parser/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/large_stack.h"
#include "base/stop_if_cancelled.h"
#include "parser/postgres_tree.h"
#include "parser/sql_lexer.h"
#include "parser/statement_rewrite.h"
#include "parser/tree_converter.h"

namespace pistachio {

namespace {

// Stack for our recursion and libpg_query's, at most one level per token; measurements are well below these.
constexpr int64_t base_stack_bytes = int64_t{256} << 20;
constexpr int64_t stack_bytes_per_token = 1024;

// PostgreSQL and JSON require UTF-8, and libpg_query stops at a zero byte.
void check_encoding(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const auto byte = [&](size_t ahead) { return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0u; };
    const unsigned first = byte(0);
    if (first == 0) throw UserError("the text contains a zero byte", static_cast<int64_t>(at));
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xC2 && first < 0xE0 ? 2
                          : (first & 0xF0) == 0xE0        ? 3
                          : first >= 0xF0 && first < 0xF5 ? 4
                                                          : 0;
    bool valid = length > 0;
    for (size_t i = 1; i < length; ++i) valid = valid && (byte(i) & 0xC0) == 0x80;
    // Overlong forms, surrogates and code points beyond Unicode.
    if (first == 0xE0) valid = valid && byte(1) >= 0xA0;
    if (first == 0xED) valid = valid && byte(1) < 0xA0;
    if (first == 0xF0) valid = valid && byte(1) >= 0x90;
    if (first == 0xF4) valid = valid && byte(1) < 0x90;
    if (!valid) throw UserError("the text is not valid UTF-8", static_cast<int64_t>(at));
    at += length;
  }
}

class NestingCheck {
 public:
  NestingCheck(std::string_view text, int64_t limit) : text_(text), limit_(limit) {}

  void add(const Token& token) {
    // t.case, 1 AS end: a name
    const bool name = after_dot_or_as_;
    after_dot_or_as_ = is_sign(text_, token, ".") || is_word(text_, token, "as");
    if (is_sign(text_, token, "(") || is_sign(text_, token, "[") || (!name && is_word(text_, token, "case"))) {
      if (++depth_ > limit_) throw UserError(fmt::format("the statement is nested more than {} levels deep", limit_), token.begin);
    } else if (is_sign(text_, token, ")") || is_sign(text_, token, "]") || (!name && is_word(text_, token, "end"))) {
      depth_ = std::max<int64_t>(depth_ - 1, 0);
    }
  }

 private:
  std::string_view text_;
  int64_t limit_;
  int64_t depth_ = 0;
  bool after_dot_or_as_ = false;
};

constexpr size_t kTokensBetweenChecks = 1024;

constexpr size_t longest_quotation = 60;

std::string shorten(std::string_view quotation) {
  if (quotation.size() <= longest_quotation) return std::string(quotation);
  size_t end = longest_quotation;
  while (end > 0 && (static_cast<unsigned char>(quotation[end]) & 0xC0) == 0x80) --end;
  return std::string(quotation.substr(0, end)) + "...";
}

// Maps PostgreSQL's message to the user's text: `syntax error at or near "x"` must not show rewritten text.
UserError translate(const PostgresRefusal& refusal, std::string_view text, const std::vector<Token>& tokens,
                    const RewrittenStatement& rewritten, const ParseLimits& limits) {
  const int64_t position = refusal.position < 0 ? tokens.front().begin : rewritten.positions.to_original(refusal.position);
  // The grammar's own limit is higher than ours.
  if (refusal.message.starts_with("memory exhausted"))
    return UserError(fmt::format("the statement is nested too deeply: more than {} levels", 4 * limits.nesting), position);
  constexpr std::string_view near = " at or near \"";
  const size_t quotation = refusal.message.find(near);
  if (quotation == std::string::npos) return UserError(refusal.message, position);
  const std::string problem = refusal.message.substr(0, quotation);
  std::string quoted = refusal.message.substr(quotation + near.size());
  if (!quoted.empty()) quoted.pop_back();
  if (rewritten.positions.is_replaced(refusal.position)) {
    auto token = std::find_if(tokens.begin(), tokens.end(), [&](const Token& candidate) { return candidate.end > position; });
    if (token != tokens.end()) quoted = token_text(text, *token);
  }
  return UserError(fmt::format("{}{}{}\"", problem, near, shorten(quoted)), position);
}

ast::Statement parse_one(std::string_view text, const std::vector<Token>& tokens, const ParseLimits& limits, const CancelToken& token) {
  const RewrittenStatement rewritten = rewrite_statement(text, tokens);
  Json tree;
  try {
    tree = parse_postgres(rewritten.sql, token);
  } catch (const PostgresRefusal& refusal) {
    throw translate(refusal, text, tokens, rewritten, limits);
  }
  return TreeConverter(text, tokens, rewritten, limits, token).convert(tree);
}

std::vector<ast::Statement> parse_all(std::string_view text, const ParseLimits& limits, const CancelToken& cancel) {
  std::vector<ast::Statement> statements;
  SqlLexer lexer(text);
  std::vector<Token> tokens;
  bool more = true;
  while (more) {
    tokens.clear();
    NestingCheck nesting(text, limits.nesting);
    Token token;
    while ((more = lexer.next(token)) && !is_sign(text, token, ";")) {
      nesting.add(token);
      tokens.push_back(token);
      if (tokens.size() % kTokensBetweenChecks == 0) stop_if_cancelled(cancel);
      if (static_cast<int64_t>(tokens.size()) > limits.tokens) {
        throw UserError(fmt::format("the statement has more than {} tokens", limits.tokens), token.begin);
      }
    }
    if (lexer.open_end()) throw UserError(fmt::format("unterminated {}", lexer.open_end()->what), lexer.open_end()->position);
    if (!tokens.empty()) statements.push_back(parse_one(text, tokens, limits, cancel));
  }
  return statements;
}

}  // namespace

std::vector<ast::Statement> parse_statements(std::string_view text, const ParseLimits& limits, const CancelToken& token) {
  const auto text_bytes = static_cast<int64_t>(text.size());
  if (text_bytes > limits.text_bytes) {
    throw UserError(fmt::format("the text has {} bytes; the limit is {}", text_bytes, limits.text_bytes), limits.text_bytes);
  }
  check_encoding(text);
  std::vector<ast::Statement> statements;
  const int64_t stack_bytes = base_stack_bytes + stack_bytes_per_token * std::min(text_bytes, limits.tokens);
  run_on_large_stack(stack_bytes, [&] { statements = parse_all(text, limits, token); });
  return statements;
}

}  // namespace pistachio
