#include "frontend/cli/sql_completion.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "config/settings.h"
#include "parser/sql_keywords.h"
#include "parser/sql_lexer.h"
#include "session/known_names.h"

namespace pistachio {

namespace {

bool is_word_letter(char letter) {
  return letter == '_' || (letter & 0x80) != 0 || std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// A name as it must be written in SQL.
std::string written_name(const std::string& name) {
  bool is_plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name == lower_case(name) &&
                  std::all_of(name.begin(), name.end(), is_word_letter);
  if (is_plain) return name;
  std::string quoted = "\"";
  for (char letter : name) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

// Keywords follow the case of the typed word.
std::string in_case_of(std::string_view word, std::string_view keyword) {
  bool is_lower = std::any_of(word.begin(), word.end(), [](char letter) { return letter >= 'a' && letter <= 'z'; });
  return is_lower ? lower_case(keyword) : std::string(keyword);
}

// The first word of the line, which decides whether to complete settings.
std::string statement_word(std::string_view line) {
  SqlLexer lexer(line);
  Token token;
  std::string first;
  while (lexer.next(token)) {
    if (is_sign(line, token, ";")) {
      first.clear();
    } else if (first.empty()) {
      first = lower_case(token_text(line, token));
    }
  }
  return first;
}

bool is_in_quotes(std::string_view line) {
  SqlLexer lexer(line);
  Token token;
  while (lexer.next(token)) {
  }
  return lexer.open_end().has_value();
}

}  // namespace

CompletionResult SqlCompletion::complete(std::string_view line) const {
  size_t begin = line.size();
  while (begin > 0 && is_word_letter(line[begin - 1])) --begin;
  std::string_view word = line.substr(begin);
  if (word.empty() || is_in_quotes(line)) return {};
  std::string wanted = lower_case(word);
  std::set<std::string> found;
  auto offer = [&](std::string_view name, std::string text) {
    if (lower_case(name).starts_with(wanted)) found.insert(std::move(text));
  };
  std::string statement = statement_word(line.substr(0, begin));
  if (statement == "set" || statement == "reset" || statement == "show") {
    for (const SettingDescription& setting : setting_descriptions()) offer(setting.name, std::string(setting.name));
    if (statement == "show") {
      for (std::string_view name : shown_lists()) offer(name, std::string(name));
    }
    return {word.size(), {found.begin(), found.end()}};
  }
  for (std::string_view keyword : sql_keywords()) offer(keyword, in_case_of(word, keyword));
  for (const std::string& name : function_names()) offer(name, name + "(");
  for (const std::string& name : table_names_()) offer(name, written_name(name));
  return {word.size(), {found.begin(), found.end()}};
}

std::string common_begin(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  // Sorted: a prefix of the first and the last is common to all.
  const std::string& first = candidates.front();
  const std::string& last = candidates.back();
  auto [end, unused] = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  return {first.begin(), end};
}

}  // namespace pistachio
