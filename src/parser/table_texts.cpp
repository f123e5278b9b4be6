// A stack of open brackets, each with four flags: whether it contains a SELECT, whether we are in its FROM list, whether a table is
// expected next, and whether it is itself in place of a table.
// See table_texts.h.
#include "parser/table_texts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parser/window_syntax.h"

namespace pistachio {

namespace {

struct Bracket {
  bool is_query = false;
  bool in_from_list = false;
  bool table_next = false;
  bool is_table = false;
};

constexpr std::array<std::string_view, 12> words_that_end_from = {"where",  "group", "having", "window",    "order",  "limit",
                                                                  "offset", "fetch", "union",  "intersect", "except", "for"};

// Words that can follow a table in FROM and are not an alias, besides those that end FROM.
constexpr std::array<std::string_view, 14> words_after_table = {"join", "left", "right",      "full",        "inner", "cross", "natural",
                                                                "semi", "anti", "positional", "tablesample", "asof",  "on",    "using"};
constexpr std::array<std::string_view, 7> words_that_go_on = {"union", "intersect", "except", "order", "limit", "offset", "fetch"};

class TablePlaceFinder {
 public:
  TablePlaceFinder(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens), brackets_(1) {}

  TablePlaces find(size_t start, bool first_is_table) {
    if (first_is_table) brackets_.back() = Bracket{true, true, true};
    for (size_t i = start; i < tokens_.size(); ++i) visit(i);
    return std::move(found_);
  }

 private:
  void visit(size_t i) {
    Bracket& bracket = brackets_.back();
    const bool table_next = std::exchange(bracket.table_next, false);
    const Token& token = tokens_[i];
    switch (token.kind) {
      case Token::Kind::Text:
        if (table_next) found_.texts.push_back(i);
        break;
      case Token::Kind::Symbol: visit_symbol(i, table_next); break;
      case Token::Kind::Word:
        if (!is_label(i)) visit_word(i, table_next);
        break;
      default: break;
    }
  }

  void visit_symbol(size_t i, bool table_next) {
    const Token& token = tokens_[i];
    if (is_sign(text_, token, "(")) {
      // After FROM this is a subquery or a parenthesized join: the first SELECT, VALUES or WITH decides.
      brackets_.push_back(Bracket{false, table_next, table_next, table_next});
    } else if (is_sign(text_, token, "[")) {
      brackets_.push_back(Bracket{});
    } else if (is_sign(text_, token, ")") || is_sign(text_, token, "]")) {
      if (brackets_.size() == 1) return;
      Bracket closed = brackets_.back();
      brackets_.pop_back();
      if (closed.is_table && closed.is_query) end_query(i);
    } else if (is_sign(text_, token, ",")) {
      brackets_.back().table_next = brackets_.back().in_from_list;
    }
  }

  void visit_word(size_t i, bool table_next) {
    Bracket& bracket = brackets_.back();
    const Token& token = tokens_[i];
    if (is_word(text_, token, "select") || is_word(text_, token, "values") || (table_next && is_word(text_, token, "with"))) {
      bracket = Bracket{true, false, false, bracket.is_table};
    } else if (is_word(text_, token, "from")) {
      // Without a SELECT in the same bracket it belongs to extract, substring, trim or overlay.
      if (bracket.is_query && !is_distinct_from(i)) bracket.in_from_list = bracket.table_next = true;
    } else if (table_next && is_word(text_, token, "lateral")) {
      bracket.table_next = true;
    } else if (is_word(text_, token, "join")) {
      bracket.table_next = bracket.in_from_list;
    } else {
      if (is_any_word(token, words_that_end_from) || is_qualify(text_, tokens_, i)) bracket.in_from_list = false;
    }
  }

  // A bracketed query in place of a table ends.
  void end_query(size_t i) {
    if (i + 1 < tokens_.size()) {
      const Token& next = tokens_[i + 1];
      if (next.kind == Token::Kind::QuotedName || is_word(text_, next, "as")) return;
      // ((SELECT 1)) and ((SELECT 1) UNION (SELECT 2)): the enclosing brackets are the query.
      Bracket& around = brackets_.back();
      if (around.is_table && !around.is_query && (is_sign(text_, next, ")") || is_any_word(next, words_that_go_on))) {
        around.is_query = true;
        return;
      }
      const bool ends_table = is_any_word(next, words_that_end_from) || is_any_word(next, words_after_table) || is_qualify(text_, tokens_, i + 1);
      if (next.kind == Token::Kind::Word && !ends_table) return;
    }
    found_.ends_without_alias.push_back(i);
  }

  template <size_t count>
  bool is_any_word(const Token& token, const std::array<std::string_view, count>& words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is_word(text_, token, word); });
  }

  // a.from and, in a select list, 1 AS from: any word may be a name there.
  bool is_label(size_t i) const {
    if (i == 0) return false;
    return is_sign(text_, tokens_[i - 1], ".") || (brackets_.back().is_query && is_word(text_, tokens_[i - 1], "as"));
  }

  // IS DISTINCT FROM, IS NOT DISTINCT FROM; but SELECT DISTINCT FROM is a clause.
  bool is_distinct_from(size_t i) const {
    return i >= 2 && is_word(text_, tokens_[i - 1], "distinct") &&
           (is_word(text_, tokens_[i - 2], "is") || is_word(text_, tokens_[i - 2], "not"));
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Bracket> brackets_;
  TablePlaces found_;
};

}  // namespace

TablePlaces find_table_places(std::string_view text, const std::vector<Token>& tokens, size_t start, bool first_is_table) {
  return TablePlaceFinder(text, tokens).find(start, first_is_table);
}

}  // namespace pistachio
