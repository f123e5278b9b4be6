// Other engines' names of functions: MySQL's, DuckDB's, SQL Server's, Spark's, Oracle's.
#include <array>

#include "expr/function_families.h"

namespace pistachio {

namespace {

constexpr std::array kAliases = {
    FunctionAlias{"len", "length"},
    FunctionAlias{"strlen", "octet_length"},
    FunctionAlias{"ucase", "upper"},
    FunctionAlias{"lcase", "lower"},
    FunctionAlias{"ord", "ascii"},
    FunctionAlias{"unicode", "ascii"},
    FunctionAlias{"char", "chr"},
    FunctionAlias{"prefix", "starts_with"},
    FunctionAlias{"startswith", "starts_with"},
    FunctionAlias{"suffix", "ends_with"},
    FunctionAlias{"endswith", "ends_with"},
    FunctionAlias{"mid", "substr"},
    FunctionAlias{"split", "split_part"},
    FunctionAlias{"rlike", "regexp_matches"},
    FunctionAlias{"editdist3", "levenshtein"},
    FunctionAlias{"edit_distance", "levenshtein"},
    FunctionAlias{"mismatches", "hamming"},
    FunctionAlias{"to_base64", "base64"},
    FunctionAlias{"unbase64", "from_base64"},
    FunctionAlias{"from_hex", "unhex"},
    FunctionAlias{"bin", "to_binary"},
    FunctionAlias{"sha", "sha1"},
    FunctionAlias{"add", "+"},
    FunctionAlias{"subtract", "-"},
    FunctionAlias{"multiply", "*"},
    FunctionAlias{"divide", "/"},
    FunctionAlias{"xor", "#"},
    FunctionAlias{"greatest_common_divisor", "gcd"},
    FunctionAlias{"least_common_multiple", "lcm"},
    FunctionAlias{"truncate", "trunc"},
    FunctionAlias{"is_nan", "isnan"},
    FunctionAlias{"is_finite", "isfinite"},
    FunctionAlias{"is_inf", "isinf"},
    FunctionAlias{"date_add", "+"},
    FunctionAlias{"datetrunc", "date_trunc"},
    FunctionAlias{"today", "current_date"},
    FunctionAlias{"curdate", "current_date"},
    FunctionAlias{"get_current_time", "current_time"},
    FunctionAlias{"get_current_timestamp", "now"},
    FunctionAlias{"transaction_timestamp", "now"},
    FunctionAlias{"statement_timestamp", "now"},
    FunctionAlias{"clock_timestamp", "now"},
    FunctionAlias{"dayofmonth", "day"},
    FunctionAlias{"weekday", "dayofweek"},
    FunctionAlias{"date_format", "strftime"},
    FunctionAlias{"str_to_date", "strptime"},
    FunctionAlias{"rand", "random"},
    FunctionAlias{"sgn", "sign"},
};

}  // namespace

std::span<const FunctionAlias> function_aliases() {
  return kAliases;
}

}  // namespace pistachio
