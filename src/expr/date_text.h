// Dates as text: names of months and days, and to_char. Names are English. Bodies of functions (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

// Of a TIMESTAMP or one with nanoseconds; dictionary-coded.
Column name_of_month(const FunctionCall& call);
Column name_of_day(const FunctionCall& call);

// TIMESTAMP, format. Patterns: YYYY YYY YY Y IYYY CC Q MM Month MON DD DDD D ID Day Dy IW WW HH24 HH12 HH MI SS SSSS MS US AM PM BC AD, FM
// before a pattern leaves out its padding, "..." is taken literally as is every other character. Names and AM follow the pattern's case.
Column format_dates(const FunctionCall& call);

}  // namespace pistachio
