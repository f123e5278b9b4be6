// Finds other engines' shorthand that PostgreSQL's grammar lacks: GROUP BY ALL, ORDER BY ALL, * EXCLUDE/REPLACE/RENAME, `alias: expression`
// and trailing commas. Pure functions over the tokens of one statement; all members are indexes into the tokens.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/sql_lexer.h"

namespace pistachio {

// Words that begin a clause behind a list and that PostgreSQL reserves: no expression begins with them.
bool begins_clause(std::string_view text, const std::vector<Token>& tokens, size_t place);

// The ALL of GROUP BY ALL, the ALL or * of ORDER BY.
std::vector<size_t> find_all_words(std::string_view text, const std::vector<Token>& tokens);

// * EXCLUDE (a) REPLACE (b + 1 AS b) RENAME (c AS d), after t. or alone.
struct StarChange {
  enum class Kind { Exclude, Replace, Rename };
  struct Section {
    Kind kind = Kind::Exclude;
    size_t word = 0;
    size_t first = 0;  // of its content; the bracket if it has one
    size_t last = 0;
    bool has_bracket = false;
    std::vector<size_t> as_words;
  };
  size_t first = 0;  // the *, or the start of its qualifier
  size_t star = 0;
  size_t last = 0;
  std::vector<Section> sections;
};
std::vector<StarChange> find_star_changes(std::string_view text, const std::vector<Token>& tokens);

struct PrefixAlias {
  size_t name = 0;
  size_t colon = 0;
  size_t last = 0;  // of what it names
};
std::vector<PrefixAlias> find_prefix_aliases(std::string_view text, const std::vector<Token>& tokens);

std::vector<size_t> find_trailing_commas(std::string_view text, const std::vector<Token>& tokens);

}  // namespace pistachio
