// Marker names start with a control character; a user's quoted name that does so, too, is itself replaced by a marker, so they never clash.
// See statement_rewrite.h.
#include "parser/statement_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "parser/table_texts.h"
#include "parser/window_syntax.h"

namespace pistachio {

namespace {

constexpr char marker_start = '\x01';
// PostgreSQL silently truncates longer names.
constexpr int64_t longest_name = 63;

class StatementRewriter {
 public:
  StatementRewriter(std::string_view text, const std::vector<Token>& tokens) : text_(text), tokens_(tokens) {}

  RewrittenStatement rewrite() {
    const Token& first = tokens_.front();
    if (is_word(text_, first, "describe") || is_word(text_, first, "desc")) {
      rewrite_describe();
    } else if (is_word(text_, first, "set")) {
      rewrite_set_value();
    }
    mark_table_places();
    mark_join_words();
    mark_qualify_clauses();
    mark_null_treatments();
    mark_long_names();
    mark_lists();
    std::sort(replacements_.begin(), replacements_.end(), [](const auto& left, const auto& right) { return left.begin < right.begin; });
    result_.sql = replace_pieces(text_, first.begin, tokens_.back().end, replacements_, result_.positions);
    return std::move(result_);
  }

 private:
  void replace(const Token& token, std::string text) { replacements_.push_back({token.begin, token.end, std::move(text)}); }

  void mark(const Token& token, Marker::Kind kind, std::string value) {
    replace(token, marker_name());
    result_.markers.push_back({kind, std::move(value), token.begin});
  }

  // The quoted name of the next marker.
  std::string marker_name() const { return fmt::format("\"{}{}\"", marker_start, result_.markers.size()); }

  void rewrite_describe() {
    const Token& word = tokens_.front();
    if (tokens_.size() == 1) throw UserError("DESCRIBE needs a table, a file or a query", word.begin);
    const Token& next = tokens_[1];
    const bool query = is_word(text_, next, "select") || is_word(text_, next, "with") || is_word(text_, next, "values") ||
                       is_word(text_, next, "table") || is_sign(text_, next, "(");
    result_.describe = query ? RewrittenStatement::Describe::Query : RewrittenStatement::Describe::Table;
    replace(word, query ? "" : "SELECT * FROM");
  }

  // A value that starts with a number: 4GB, 80%, 1.5 GiB. PostgreSQL requires quotes.
  void rewrite_set_value() {
    size_t value = 1;
    while (value < tokens_.size() && !is_sign(text_, tokens_[value], "=") && !is_word(text_, tokens_[value], "to")) ++value;
    ++value;
    if (value + 1 >= tokens_.size() || tokens_[value].kind != Token::Kind::Number) return;
    for (size_t i = value + 1; i < tokens_.size(); ++i) {
      const Token::Kind kind = tokens_[i].kind;
      if (kind != Token::Kind::Word && kind != Token::Kind::Number && kind != Token::Kind::Operator) return;
    }
    const Token whole{Token::Kind::Text, tokens_[value].begin, tokens_.back().end};
    end_of_names_ = value;
    replace(whole, fmt::format("'{}'", token_text(text_, whole)));
  }

  void mark_table_places() {
    const bool describe = result_.describe != RewrittenStatement::Describe::No;
    const bool table = result_.describe == RewrittenStatement::Describe::Table;
    TablePlaces places = find_table_places(text_, tokens_, describe ? 1 : 0, table);
    for (size_t i : places.texts) {
      auto path = value_of_text_token(text_, tokens_[i]);
      if (path) mark(tokens_[i], Marker::Kind::File, std::move(*path));
    }
    for (size_t i : places.ends_without_alias) {
      replacements_.push_back({tokens_[i].end, tokens_[i].end, " AS " + marker_name()});
      result_.markers.push_back({Marker::Kind::NoAlias, "", tokens_[i].begin});
    }
  }

  // a SEMI JOIN b ON c becomes a CROSS JOIN <marker> JOIN b ON c, since the grammar reads SEMI as an alias. It is one after AS or in
  // quotes.
  void mark_join_words() {
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!is_word(text_, tokens_[i + 1], "join") || !can_end_table(tokens_[i - 1])) continue;
      const bool semi = is_word(text_, tokens_[i], "semi");
      if (semi || is_word(text_, tokens_[i], "anti")) {
        replace(tokens_[i], "CROSS JOIN " + marker_name());
        result_.markers.push_back({semi ? Marker::Kind::SemiJoin : Marker::Kind::AntiJoin, "", tokens_[i].begin});
      }
      for (std::string_view refused : {"asof", "positional"}) {
        if (!is_word(text_, tokens_[i], refused)) continue;
        throw UserError(fmt::format("{} JOIN is not supported; for an alias of this name write AS {}", refused == "asof" ? "ASOF" : "POSITIONAL", refused),
                        tokens_[i].begin);
      }
    }
  }

  // QUALIFY x becomes WINDOW <marker> AS (PARTITION BY x), or joins the entries of a WINDOW clause before or behind it.
  void mark_qualify_clauses() {
    for (const QualifyClause& clause : find_qualify_clauses(text_, tokens_)) {
      const std::string start = clause.follows_window ? ", " : "WINDOW ";
      replace(tokens_[clause.word], fmt::format("{}{} AS (PARTITION BY", start, marker_name()));
      result_.markers.push_back({Marker::Kind::Qualify, "", tokens_[clause.word].begin});
      replacements_.push_back({tokens_[clause.last].end, tokens_[clause.last].end, ")"});
      if (clause.window_behind) replace(tokens_[*clause.window_behind], ",");
    }
  }

  // lag(x IGNORE NULLS) and lag(x) IGNORE NULLS OVER become lag(x, <marker>).
  void mark_null_treatments() {
    for (const NullTreatment& treatment : find_null_treatments(text_, tokens_)) {
      const Token& word = tokens_[treatment.word];
      const std::string argument = (treatment.has_arguments ? ", " : "") + marker_name();
      const Token both{Token::Kind::Word, word.begin, tokens_[treatment.word + 1].end};
      if (treatment.is_behind_bracket) {
        const int64_t bracket = tokens_[treatment.word - 1].begin;
        replacements_.push_back({bracket, bracket, argument});
        replace(both, "");
      } else {
        replace(both, argument);
      }
      result_.markers.push_back({treatment.ignores ? Marker::Kind::IgnoreNulls : Marker::Kind::RespectNulls, "", word.begin});
    }
  }

  bool can_end_table(const Token& token) const { return can_end_operand(text_, token); }

  void mark_long_names() {
    for (size_t i = 0; i < std::min(end_of_names_, tokens_.size()); ++i) {
      const Token& token = tokens_[i];
      const bool quoted = token.kind == Token::Kind::QuotedName && text_[static_cast<size_t>(token.begin)] == '"';
      if (!quoted && token.kind != Token::Kind::Word) continue;
      const bool like_marker = quoted && text_[static_cast<size_t>(token.begin + 1)] == marker_start;
      if (token.end - token.begin <= longest_name && !like_marker) continue;
      mark(token, Marker::Kind::LongName, name_of_token(text_, token));
    }
  }

  // DuckDB's list syntax: a bracket after an opening parenthesis or a comma is not a subscript.
  void mark_lists() {
    for (size_t i = 1; i < tokens_.size(); ++i) {
      if (!is_sign(text_, tokens_[i], "[")) continue;
      const Token& before = tokens_[i - 1];
      if (!is_sign(text_, before, "(") && !is_sign(text_, before, ",")) continue;
      replacements_.push_back({tokens_[i].begin, tokens_[i].begin, "ARRAY"});
    }
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Replacement> replacements_;
  size_t end_of_names_ = SIZE_MAX;  // tokens from here on are replaced as a whole
  RewrittenStatement result_;
};

}  // namespace

const Marker* RewrittenStatement::find_marker(std::string_view name) const {
  if (name.empty() || name.front() != marker_start) return nullptr;
  size_t index = 0;
  const auto parsed = std::from_chars(name.data() + 1, name.data() + name.size(), index);
  if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size() || index >= markers.size()) return nullptr;
  return &markers[index];
}

RewrittenStatement rewrite_statement(std::string_view text, const std::vector<Token>& tokens) {
  return StatementRewriter(text, tokens).rewrite();
}

}  // namespace pistachio
