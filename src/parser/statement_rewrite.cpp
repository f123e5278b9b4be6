// Marker names start with a control character; a user's quoted name that does so, too, is itself replaced by a marker, so they never clash.
// See statement_rewrite.h.
#include "parser/statement_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "parser/leading_from.h"
#include "parser/shorthand_syntax.h"
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
    mark_all_words();
    mark_star_changes();
    move_prefix_aliases();
    drop_trailing_commas();
    drop_digit_separators();
    rewrite_try_casts();
    mark_long_names();
    mark_lists();
    mark_braces();
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

  // GROUP BY ALL becomes GROUP BY <marker>.
  void mark_all_words() {
    for (size_t i : find_all_words(text_, tokens_)) mark(tokens_[i], Marker::Kind::All, "all");
  }

  // t.* EXCLUDE (a) REPLACE (b + 1 AS b) becomes <marker>(t.*, <marker>, a, <marker>, b + 1, b); without t, NULL is the first argument.
  void mark_star_changes() {
    for (const StarChange& change : find_star_changes(text_, tokens_)) {
      const Token& first = tokens_[change.first];
      if (change.first == change.star) {
        replace(first, marker_name() + "(NULL");
      } else {
        replacements_.push_back({first.begin, first.begin, marker_name() + "("});
      }
      result_.markers.push_back({Marker::Kind::StarChange, "*", first.begin});
      for (const StarChange::Section& section : change.sections) mark_star_section(section);
      replacements_.push_back({tokens_[change.last].end, tokens_[change.last].end, ")"});
    }
  }

  void mark_star_section(const StarChange::Section& section) {
    const Token& word = tokens_[section.word];
    replace(word, ", " + marker_name() + ", ");
    const Marker::Kind kind = section.kind == StarChange::Kind::Exclude   ? Marker::Kind::StarExclude
                              : section.kind == StarChange::Kind::Replace ? Marker::Kind::StarReplace
                                                                          : Marker::Kind::StarRename;
    result_.markers.push_back({kind, std::string(token_text(text_, word)), word.begin});
    for (size_t i : section.as_words) replace(tokens_[i], ",");
    if (!section.has_bracket) return;
    replace(tokens_[section.first], "");
    replace(tokens_[section.last], "");
  }

  // a: x becomes x AS a.
  void move_prefix_aliases() {
    for (const PrefixAlias& alias : find_prefix_aliases(text_, tokens_)) {
      const Token& last = tokens_[alias.last];
      replacements_.push_back({last.end, last.end, fmt::format(" AS {}", token_text(text_, tokens_[alias.name]))});
      replace(Token{Token::Kind::Word, tokens_[alias.name].begin, tokens_[alias.colon].end}, "");
    }
  }

  void drop_trailing_commas() {
    for (size_t i : find_trailing_commas(text_, tokens_)) replace(tokens_[i], "");
  }

  // TRY_CAST(x AS t) becomes CAST(x AS t): the tree has the position of the word.
  void rewrite_try_casts() {
    for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (is_word(text_, tokens_[i], "try_cast") && is_sign(text_, tokens_[i + 1], "(")) replace(tokens_[i], "CAST");
    }
  }

  // 1_000_000
  void drop_digit_separators() {
    for (size_t i = 0; i < std::min(end_of_names_, tokens_.size()); ++i) {
      if (tokens_[i].kind != Token::Kind::Number) continue;
      std::string digits(token_text(text_, tokens_[i]));
      if (std::erase(digits, '_') > 0) replace(tokens_[i], std::move(digits));
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

  // DuckDB's list syntax: a bracket after an opening parenthesis, a comma or an equals sign is not a subscript.
  void mark_lists() {
    for (size_t i = 1; i < tokens_.size(); ++i) {
      if (!is_sign(text_, tokens_[i], "[")) continue;
      const std::string_view before = token_text(text_, tokens_[i - 1]);
      if (before != "(" && before != "," && before != "=" && before != ":=" && before != "=>") continue;
      replacements_.push_back({tokens_[i].begin, tokens_[i].begin, "ARRAY"});
    }
  }

  // {'a': x, b: y} becomes <marker>('a', x, 'b', y).
  void mark_braces() {
    size_t depth = 0;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (is_sign(text_, token, "{")) {
        ++depth;
        replace(token, marker_name() + "(");
        result_.markers.push_back({Marker::Kind::Braces, "", token.begin});
      } else if (is_sign(text_, token, "}") && depth > 0) {
        --depth;
        replace(token, ")");
      } else if (is_sign(text_, token, ":") && depth > 0) {
        replace(token, ",");
        const Token& key = tokens_[i - 1];
        if (key.kind == Token::Kind::Word || key.kind == Token::Kind::QuotedName)
          replace(key, fmt::format("'{}'", name_of_token(text_, key)));
      }
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
  const std::optional<ReorderedStatement> reordered = reorder_leading_from(text, tokens);
  if (!reordered) return StatementRewriter(text, tokens).rewrite();
  std::vector<Token> new_tokens;
  SqlLexer lexer(reordered->sql);
  for (Token token; lexer.next(token);) new_tokens.push_back(token);
  try {
    RewrittenStatement result = StatementRewriter(reordered->sql, new_tokens).rewrite();
    for (Marker& marker : result.markers) marker.position = reordered->positions.to_original(marker.position);
    result.positions.follow(reordered->positions);
    return result;
  } catch (const UserError& error) {
    if (!error.position()) throw;
    throw UserError(error.message(), reordered->positions.to_original(*error.position()));
  }
}

}  // namespace pistachio
