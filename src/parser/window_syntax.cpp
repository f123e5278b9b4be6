// See window_syntax.h.
#include "parser/window_syntax.h"

#include <algorithm>
#include <array>

namespace pistachio {

namespace {

template <size_t count>
bool is_any_word(std::string_view text, const Token& token, const std::array<std::string_view, count>& words) {
  return token.kind == Token::Kind::Word &&
         std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is_word(text, token, word); });
}

// Words after which QUALIFY is a name: it has an alias's or a column's place.
constexpr std::array<std::string_view, 31> words_behind_name = {
    "join",  "left",  "right", "full",  "inner",     "cross",  "natural", "semi",  "anti",   "asof", "positional",
    "on",    "using", "where", "group", "having",    "order",  "limit",   "offset", "fetch", "union", "intersect",
    "except", "window", "for",  "from",  "as",        "and",    "or",      "is",    "tablesample"};

constexpr std::array<std::string_view, 8> words_behind_qualify = {"order", "limit", "offset", "fetch", "union", "intersect", "except", "for"};

bool is_open_bracket(std::string_view text, const Token& token) {
  return is_sign(text, token, "(") || is_sign(text, token, "[");
}

bool is_closed_bracket(std::string_view text, const Token& token) {
  return is_sign(text, token, ")") || is_sign(text, token, "]");
}

// What an expression can begin with.
bool can_begin_condition(std::string_view text, const Token& token) {
  if (token.kind == Token::Kind::Symbol) return is_open_bracket(text, token);
  if (token.kind == Token::Kind::Operator) return is_sign(text, token, "+") || is_sign(text, token, "-") || is_sign(text, token, "~");
  return !is_any_word(text, token, words_behind_name);
}

// t.qualify, 1 AS qualify
bool is_name_there(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  return place > 0 && (is_sign(text, tokens[place - 1], ".") || is_word(text, tokens[place - 1], "as"));
}

class QualifyFinder {
 public:
  QualifyFinder(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens), levels_(1) {}

  std::vector<QualifyClause> find() {
    for (size_t i = 0; i < tokens_.size(); ++i) visit(i);
    end_clause(tokens_.size());
    return std::move(found_);
  }

 private:
  // What one level of brackets contains.
  struct Level {
    bool has_window = false;
    std::optional<QualifyClause> open;
  };

  void visit(size_t i) {
    const Token& token = tokens_[i];
    if (is_open_bracket(text_, token)) return levels_.push_back({});
    if (is_closed_bracket(text_, token)) {
      end_clause(i);
      if (levels_.size() > 1) levels_.pop_back();
      return;
    }
    if (token.kind != Token::Kind::Word || is_name_there(text_, tokens_, i)) return;
    if (is_word(text_, token, "select")) levels_.back() = {};
    if (is_word(text_, token, "window")) {
      levels_.back().has_window = true;
      if (levels_.back().open) levels_.back().open->window_behind = i;
      end_clause(i);
    } else if (is_any_word(text_, token, words_behind_qualify)) {
      end_clause(i);
    } else if (is_qualify(text_, tokens_, i)) {
      levels_.back().open = QualifyClause{.word = i, .last = i, .follows_window = levels_.back().has_window, .window_behind = std::nullopt};
    }
  }

  void end_clause(size_t next) {
    std::optional<QualifyClause>& open = levels_.back().open;
    if (!open) return;
    open->last = next - 1;
    found_.push_back(*open);
    open.reset();
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Level> levels_;
  std::vector<QualifyClause> found_;
};

}  // namespace

bool can_end_operand(std::string_view text, const Token& token) {
  if (token.kind == Token::Kind::Symbol) return is_closed_bracket(text, token);
  if (token.kind == Token::Kind::Operator) return false;
  for (std::string_view word : {"from", "join", "as", "lateral", "only", "on", "and", "or", "not", "where", "select", "when", "then", "else",
                                "case", "in", "is", "like", "ilike", "between", "distinct", "by", "having", "table", "using"}) {
    if (is_word(text, token, word)) return false;
  }
  return true;
}

bool is_qualify(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  if (place == 0 || place + 1 >= tokens.size() || !is_word(text, tokens[place], "qualify")) return false;
  return can_end_operand(text, tokens[place - 1]) && can_begin_condition(text, tokens[place + 1]);
}

std::vector<QualifyClause> find_qualify_clauses(std::string_view text, const std::vector<Token>& tokens) {
  return QualifyFinder(text, tokens).find();
}

std::vector<NullTreatment> find_null_treatments(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<NullTreatment> found;
  for (size_t i = 2; i + 2 < tokens.size(); ++i) {
    const bool ignores = is_word(text, tokens[i], "ignore");
    if ((!ignores && !is_word(text, tokens[i], "respect")) || !is_word(text, tokens[i + 1], "nulls")) continue;
    const bool is_behind_bracket = is_sign(text, tokens[i - 1], ")") && is_word(text, tokens[i + 2], "over");
    if (!is_behind_bracket && !is_sign(text, tokens[i + 2], ")")) continue;
    const size_t last = is_behind_bracket ? i - 2 : i - 1;  // before the closing bracket or the words
    found.push_back({.word = i, .ignores = ignores, .is_behind_bracket = is_behind_bracket, .has_arguments = !is_sign(text, tokens[last], "(")});
  }
  return found;
}

}  // namespace pistachio
