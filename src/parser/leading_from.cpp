// Finds queries that begin with FROM by walking over the tokens with a stack of brackets, then writes the pieces in SQL's order.
// See leading_from.h.
#include "parser/leading_from.h"

#include <algorithm>
#include <array>
#include <map>

#include "parser/shorthand_syntax.h"
#include "parser/window_syntax.h"

namespace pistachio {

namespace {

// A query that begins with FROM, as places of tokens.
struct LeadingFrom {
  std::optional<size_t> select;  // where its SELECT begins; none: all columns
  size_t from_end = 0;
  size_t select_end = 0;
};

class LeadingFromFinder {
 public:
  LeadingFromFinder(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens), levels_(1) {}

  // By the place of FROM.
  std::map<size_t, LeadingFrom> find() {
    for (size_t i = 0; i < tokens_.size(); ++i) visit(i);
    while (!levels_.empty()) end_level(tokens_.size());
    return std::move(found_);
  }

 private:
  struct Level {
    size_t first = 0;        // its first token
    bool has_query = false;  // a SELECT, VALUES or FROM of the current query has been seen
    bool may_begin = true;   // a query may begin at the next token
    std::optional<size_t> from;
    LeadingFrom parts;
  };

  void visit(size_t i) {
    const Token& token = tokens_[i];
    if (is_sign(text_, token, "(") || is_sign(text_, token, "[")) {
      Level level;
      level.first = i + 1;
      level.may_begin = is_sign(text_, token, "(") && !(i > 0 && is_word(text_, tokens_[i - 1], "trim"));
      levels_.back().may_begin = false;
      levels_.push_back(level);
      return;
    }
    if (is_sign(text_, token, ")") || is_sign(text_, token, "]")) {
      if (levels_.size() == 1) return;
      end_level(i);
      levels_.back().may_begin = !levels_.back().has_query && leads_to_query(levels_.back());
      return;
    }
    visit_word(i);
  }

  void visit_word(size_t i) {
    Level& level = levels_.back();
    const Token& token = tokens_[i];
    const bool may_begin = std::exchange(level.may_begin, false);
    if (i > 0 && is_sign(text_, tokens_[i - 1], ".")) return;
    if (is_word(text_, token, "from") && may_begin) {
      level.has_query = true;
      level.from = i;
    } else if (is_word(text_, token, "select") && level.from && !level.parts.select && level.parts.from_end == 0) {
      level.parts.select = i;
      level.parts.from_end = i;
    } else if (is_word(text_, token, "select") || is_word(text_, token, "values")) {
      level.has_query = true;
    } else if (is_set_word(token)) {
      end_query(level, i);
      level.has_query = false;
      level.may_begin = true;
    } else if (level.from && (begins_clause(text_, tokens_, i) || is_qualify(text_, tokens_, i))) {
      if (level.parts.select) {
        if (level.parts.select_end == 0) level.parts.select_end = i;
      } else if (level.parts.from_end == 0) {
        level.parts.from_end = i;
      }
    } else if (!level.has_query) {
      const bool follows_set = i > 0 && is_set_word(tokens_[i - 1]);
      const bool quantifies = is_word(text_, token, "all") || is_word(text_, token, "distinct");
      level.may_begin = (follows_set && quantifies) || leads_to_query(level);
    }
  }

  bool is_set_word(const Token& token) const {
    return is_word(text_, token, "union") || is_word(text_, token, "intersect") || is_word(text_, token, "except");
  }

  // WITH, CREATE ... AS, EXPLAIN, DESCRIBE and INSERT are followed by a query on their own level.
  bool leads_to_query(const Level& level) const {
    static constexpr std::array<std::string_view, 6> leading = {"with", "create", "explain", "describe", "desc", "insert"};
    return level.first < tokens_.size() &&
           std::any_of(leading.begin(), leading.end(), [&](std::string_view word) { return is_word(text_, tokens_[level.first], word); });
  }

  void end_query(Level& level, size_t end) {
    if (!level.from) return;
    if (level.parts.from_end == 0) level.parts.from_end = end;
    if (level.parts.select && level.parts.select_end == 0) level.parts.select_end = end;
    found_.emplace(*level.from, level.parts);
    level.from.reset();
    level.parts = {};
  }

  void end_level(size_t end) {
    end_query(levels_.back(), end);
    levels_.pop_back();
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Level> levels_;
  std::map<size_t, LeadingFrom> found_;
};

class Reordering {
 public:
  Reordering(std::string_view text, const std::vector<Token>& tokens, const std::map<size_t, LeadingFrom>& queries)
      : text_(text), tokens_(tokens), queries_(queries) {}

  ReorderedStatement write() {
    write_range(0, tokens_.size());
    return {writer_.take_text(), writer_.take_map()};
  }

 private:
  void write_range(size_t begin, size_t end) {
    size_t copied = begin;
    for (size_t i = begin; i < end; ++i) {
      auto query = queries_.find(i);
      if (query == queries_.end()) continue;
      copy(copied, i);
      const LeadingFrom& parts = query->second;
      if (!parts.select) {
        writer_.insert("SELECT * ", tokens_[i].begin);
        copied = i;
        continue;
      }
      write_range(*parts.select, parts.select_end);
      writer_.insert(" ", tokens_[i].begin);
      write_from(i, parts.from_end);
      copied = parts.select_end;
      i = parts.select_end - 1;
    }
    copy(copied, end);
  }

  // The FROM itself, which is the start of the query found at its place.
  void write_from(size_t begin, size_t end) {
    copy(begin, begin + 1);
    write_range(begin + 1, end);
  }

  void copy(size_t begin, size_t end) {
    if (begin >= end) return;
    writer_.copy(text_, tokens_[begin].begin, tokens_[end - 1].end);
    writer_.insert(" ", tokens_[end - 1].end);
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::map<size_t, LeadingFrom>& queries_;
  PieceWriter writer_;
};

}  // namespace

std::optional<ReorderedStatement> reorder_leading_from(std::string_view text, const std::vector<Token>& tokens) {
  const bool has_from = std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) { return is_word(text, token, "from"); });
  if (!has_from) return std::nullopt;
  const std::map<size_t, LeadingFrom> queries = LeadingFromFinder(text, tokens).find();
  if (queries.empty()) return std::nullopt;
  return Reordering(text, tokens, queries).write();
}

}  // namespace pistachio
