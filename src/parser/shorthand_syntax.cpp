// See shorthand_syntax.h.
#include "parser/shorthand_syntax.h"

#include <algorithm>
#include <array>
#include <optional>

#include "parser/window_syntax.h"

namespace pistachio {

namespace {

constexpr std::array<std::string_view, 13> clause_words = {"from",   "where", "group", "having",    "window", "order", "limit",
                                                           "offset", "fetch", "union", "intersect", "except", "for"};
// What may follow a table in FROM.
constexpr std::array<std::string_view, 7> join_words = {"join", "inner", "cross", "full", "natural", "on", "using"};

template <size_t count>
bool is_listed(std::string_view text, const Token& token, const std::array<std::string_view, count>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is_word(text, token, word); });
}

bool opens(std::string_view text, const Token& token) {
  return is_sign(text, token, "(") || is_sign(text, token, "[");
}

bool closes(std::string_view text, const Token& token) {
  return is_sign(text, token, ")") || is_sign(text, token, "]");
}

bool is_name_token(const Token& token) {
  return token.kind == Token::Kind::Word || token.kind == Token::Kind::QuotedName;
}

// The token behind the bracket that opens at `place`.
size_t behind_bracket(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  size_t depth = 0;
  for (size_t i = place; i < tokens.size(); ++i) {
    if (opens(text, tokens[i])) ++depth;
    if (closes(text, tokens[i]) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

// IS DISTINCT FROM, IS NOT DISTINCT FROM
bool is_part_of_distinct(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  return place >= 2 && is_word(text, tokens[place - 1], "distinct") &&
         (is_word(text, tokens[place - 2], "is") || is_word(text, tokens[place - 2], "not"));
}

std::optional<StarChange::Kind> change_word(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  if (place + 1 >= tokens.size()) return std::nullopt;
  const bool bracket = is_sign(text, tokens[place + 1], "(");
  if (is_word(text, tokens[place], "exclude") && (bracket || is_name_token(tokens[place + 1]))) return StarChange::Kind::Exclude;
  if (is_word(text, tokens[place], "replace") && bracket) return StarChange::Kind::Replace;
  if (is_word(text, tokens[place], "rename") && bracket) return StarChange::Kind::Rename;
  return std::nullopt;
}

StarChange::Section read_section(std::string_view text, const std::vector<Token>& tokens, size_t word, StarChange::Kind kind) {
  StarChange::Section section{.kind = kind, .word = word, .first = word + 1, .last = word + 1, .has_bracket = false, .as_words = {}};
  section.has_bracket = is_sign(text, tokens[section.first], "(");
  if (!section.has_bracket) {
    // EXCLUDE a, EXCLUDE t.a
    while (section.last + 2 < tokens.size() && is_sign(text, tokens[section.last + 1], ".") && is_name_token(tokens[section.last + 2]))
      section.last += 2;
    return section;
  }
  section.last = behind_bracket(text, tokens, section.first) - 1;
  size_t depth = 0;
  for (size_t i = section.first; i <= section.last; ++i) {
    if (opens(text, tokens[i])) ++depth;
    if (closes(text, tokens[i])) --depth;
    if (depth == 1 && is_word(text, tokens[i], "as") && kind != StarChange::Kind::Exclude) section.as_words.push_back(i);
  }
  return section;
}

}  // namespace

bool begins_clause(std::string_view text, const std::vector<Token>& tokens, size_t place) {
  return is_listed(text, tokens[place], clause_words) && !is_part_of_distinct(text, tokens, place);
}

std::vector<size_t> find_all_words(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<size_t> found;
  for (size_t i = 2; i < tokens.size(); ++i) {
    if (!is_word(text, tokens[i - 1], "by")) continue;
    const bool groups = is_word(text, tokens[i - 2], "group");
    if (!groups && !is_word(text, tokens[i - 2], "order")) continue;
    if (!is_word(text, tokens[i], "all") && (groups || !is_sign(text, tokens[i], "*"))) continue;
    bool ends =
        i + 1 == tokens.size() || closes(text, tokens[i + 1]) || begins_clause(text, tokens, i + 1) || is_qualify(text, tokens, i + 1);
    for (std::string_view word : {"asc", "desc", "nulls"}) ends = ends || (!groups && is_word(text, tokens[i + 1], word));
    if (ends) found.push_back(i);
  }
  return found;
}

std::vector<StarChange> find_star_changes(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<StarChange> found;
  for (size_t i = 1; i + 2 < tokens.size(); ++i) {
    if (!is_sign(text, tokens[i], "*") || !change_word(text, tokens, i + 1)) continue;
    const bool qualified = is_sign(text, tokens[i - 1], ".");
    if (!qualified && can_end_operand(text, tokens[i - 1])) continue;  // a product
    StarChange change{.first = i, .star = i, .last = i, .sections = {}};
    while (change.first >= 2 && is_sign(text, tokens[change.first - 1], ".") && is_name_token(tokens[change.first - 2])) change.first -= 2;
    while (change.last + 1 < tokens.size()) {
      const auto kind = change_word(text, tokens, change.last + 1);
      if (!kind) break;
      change.sections.push_back(read_section(text, tokens, change.last + 1, *kind));
      change.last = change.sections.back().last;
    }
    found.push_back(std::move(change));
  }
  return found;
}

std::vector<PrefixAlias> find_prefix_aliases(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<PrefixAlias> found;
  size_t braces = 0;
  for (size_t i = 1; i + 2 < tokens.size(); ++i) {
    if (is_sign(text, tokens[i], "{")) ++braces;
    if (is_sign(text, tokens[i], "}") && braces > 0) --braces;
    const bool is_assignment = is_sign(text, tokens[i + 2], "=") && tokens[i + 2].begin == tokens[i + 1].end;
    if (braces > 0 || is_assignment) continue;  // {a: 'INTEGER'}, f(a := 1)
    if (!is_sign(text, tokens[i + 1], ":") || !is_name_token(tokens[i])) continue;
    bool begins_item = is_sign(text, tokens[i - 1], ",");
    for (std::string_view word : {"select", "distinct", "all", "from", "join"})
      begins_item = begins_item || is_word(text, tokens[i - 1], word);
    if (!begins_item) continue;
    size_t depth = 0;
    size_t end = i + 2;
    for (; end < tokens.size(); ++end) {
      if (depth == 0 && (closes(text, tokens[end]) || is_sign(text, tokens[end], ","))) break;
      const bool is_side = end + 1 < tokens.size() && (is_word(text, tokens[end], "left") || is_word(text, tokens[end], "right")) &&
                           !opens(text, tokens[end + 1]);
      if (depth == 0 &&
          (begins_clause(text, tokens, end) || is_listed(text, tokens[end], join_words) || is_side || is_qualify(text, tokens, end)))
        break;
      if (opens(text, tokens[end])) ++depth;
      if (closes(text, tokens[end])) --depth;
    }
    if (end > i + 2) found.push_back({.name = i, .colon = i + 1, .last = end - 1});
  }
  return found;
}

std::vector<size_t> find_trailing_commas(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<size_t> found;
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!is_sign(text, tokens[i], ",") || !can_end_operand(text, tokens[i - 1])) continue;
    if (i + 1 == tokens.size() || closes(text, tokens[i + 1]) || begins_clause(text, tokens, i + 1)) found.push_back(i);
  }
  return found;
}

}  // namespace pistachio
