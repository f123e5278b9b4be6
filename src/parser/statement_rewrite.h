// Rewrites our SQL extensions to PostgreSQL's grammar, and maps the result back:
//   - texts in place of a table, and names longer than PostgreSQL's 63 bytes, become short marker names;
//   - QUALIFY becomes an entry of the WINDOW clause with a marker name, IGNORE NULLS an argument with one;
//   - SEMI and ANTI before JOIN become a join with a marker name; a subquery in FROM without an alias gets a marker name as alias;
//   - FROM before SELECT is moved behind it; ALL after GROUP BY and ORDER BY becomes a marker name; * EXCLUDE (a) becomes a call of one;
//   - alias: x becomes x AS alias; trailing commas and the _ in 1_000 are dropped;
//   - DESCRIBE x becomes a query; SET a = 4GB becomes SET a = '4GB'; f(['a', 'b']) becomes f(ARRAY['a', 'b']); {'a': x} becomes a call of a
//   marker.
// A pure function; the result owns its text and is read by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/position_map.h"
#include "parser/sql_lexer.h"

namespace pistachio {

struct Marker {
  enum class Kind {
    File,
    LongName,
    SemiJoin,
    AntiJoin,
    NoAlias,
    Qualify,
    IgnoreNulls,
    RespectNulls,
    All,
    StarChange,
    StarExclude,
    StarReplace,
    StarRename,
    Braces
  };
  Kind kind = Kind::File;
  std::string value;
  int64_t position = 0;
};

struct RewrittenStatement {
  enum class Describe { No, Table, Query };
  std::string sql;
  PositionMap positions;
  std::vector<Marker> markers;
  Describe describe = Describe::No;

  // The marker behind a name in the tree; null for the user's own names.
  const Marker* find_marker(std::string_view name) const;
};

// `tokens`: of one statement, without the semicolon; positions in `text`.
RewrittenStatement rewrite_statement(std::string_view text, const std::vector<Token>& tokens);

}  // namespace pistachio
