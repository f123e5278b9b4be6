#include "parser/sql_keywords.h"

#include <algorithm>
#include <array>

namespace pistachio {

namespace {

constexpr auto kKeywords = std::to_array<std::string_view>({
    "ALL",       "ANALYZE",        "AND",          "ANY",      "AS",      "ASC",      "BETWEEN",      "BIGINT",   "BLOB",    "BOOLEAN",
    "BY",        "CASE",           "CAST",         "COALESCE", "CREATE",  "CROSS",    "CURRENT_DATE", "DATE",     "DECIMAL", "DESC",
    "DESCRIBE",  "DISTINCT",       "DOUBLE",       "DROP",     "ELSE",    "END",      "ESCAPE",       "EXCEPT",   "EXISTS",  "EXPLAIN",
    "EXTRACT",   "FALSE",          "FETCH",        "FILTER",   "FIRST",   "FORMAT",   "FROM",         "FULL",     "GROUP",   "HAVING",
    "IF",        "ILIKE",          "IN",           "INNER",    "INSERT",  "INTEGER",  "INTERSECT",    "INTERVAL", "INTO",    "IS",
    "JOIN",      "LAST",           "LATERAL",      "LEFT",     "LIKE",    "LIMIT",    "NATURAL",      "NOT",      "NULL",    "NULLIF",
    "NULLS",     "OFFSET",         "ON",           "OR",       "ORDER",   "OUTER",    "REAL",         "REPLACE",  "RESET",   "RIGHT",
    "ROW",       "ROWS",           "SELECT",       "SET",      "SHOW",    "SMALLINT", "TABLE",        "TEMP",     "THEN",    "TIME",
    "TIMESTAMP", "TIMESTAMPTZ_NS", "TIMESTAMP_NS", "TIME_NS",  "TINYINT", "TRUE",     "UNION",        "USING",    "VALUES",  "VARCHAR",
    "VIEW",      "WHEN",           "WHERE",        "WITH",
});
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

}  // namespace

std::span<const std::string_view> sql_keywords() {
  return kKeywords;
}

}  // namespace pistachio
