// A stack of brackets, each with three facts: has it a SELECT of its own, are we in its FROM list, is a table expected next.
// See table_texts.h.
#include "parser/table_texts.h"

#include <array>
#include <utility>

namespace pistachio {

namespace {

struct Bracket {
  bool is_query = false;
  bool in_from_list = false;
  bool table_next = false;
};

constexpr std::array<std::string_view, 12> words_that_end_from = {"where",  "group", "having", "window",    "order",  "limit",
                                                                  "offset", "fetch", "union",  "intersect", "except", "for"};

class TableTextFinder {
 public:
  TableTextFinder(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens), brackets_(1) {}

  std::vector<size_t> find(size_t start, bool first_is_table) {
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
        if (table_next) found_.push_back(i);
        break;
      case Token::Kind::Symbol: visit_symbol(token, table_next); break;
      case Token::Kind::Word:
        if (!is_label(i)) visit_word(i, table_next);
        break;
      default: break;
    }
  }

  void visit_symbol(const Token& token, bool table_next) {
    if (is_sign(text_, token, "(")) {
      // After FROM this is a subquery or a join in parentheses: the first SELECT, VALUES or WITH decides.
      brackets_.push_back(Bracket{false, table_next, table_next});
    } else if (is_sign(text_, token, "[")) {
      brackets_.push_back(Bracket{});
    } else if (is_sign(text_, token, ")") || is_sign(text_, token, "]")) {
      if (brackets_.size() > 1) brackets_.pop_back();
    } else if (is_sign(text_, token, ",")) {
      brackets_.back().table_next = brackets_.back().in_from_list;
    }
  }

  void visit_word(size_t i, bool table_next) {
    Bracket& bracket = brackets_.back();
    const Token& token = tokens_[i];
    if (is_word(text_, token, "select") || is_word(text_, token, "values") || (table_next && is_word(text_, token, "with"))) {
      bracket = Bracket{true, false, false};
    } else if (is_word(text_, token, "from")) {
      // Without a SELECT in the same bracket it is extract, substring, trim, overlay.
      if (bracket.is_query && !is_distinct_from(i)) bracket.in_from_list = bracket.table_next = true;
    } else if (is_word(text_, token, "join")) {
      bracket.table_next = bracket.in_from_list;
    } else {
      for (std::string_view word : words_that_end_from) {
        if (is_word(text_, token, word)) bracket.in_from_list = false;
      }
    }
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
  std::vector<size_t> found_;
};

}  // namespace

std::vector<size_t> find_table_texts(std::string_view text, const std::vector<Token>& tokens, size_t start, bool first_is_table) {
  return TableTextFinder(text, tokens).find(start, first_is_table);
}

}  // namespace pistachio
