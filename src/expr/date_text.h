// Dates as text: English names of months and days, and to_char. Function bodies (expr/function.h).
#pragma once

#include "expr/function.h"

namespace pistachio {

// For TIMESTAMP and TIMESTAMP_NS; dictionary-coded.
Column name_of_month(const FunctionCall& call);
Column name_of_day(const FunctionCall& call);

// TIMESTAMP, format. Patterns: YYYY YYY YY Y IYYY CC Q MM Month MON DD DDD D ID Day Dy IW WW HH24 HH12 HH MI SS SSSS MS US AM PM BC AD, FM
// before a pattern suppresses padding, "..." and all other characters are literal. Names and AM follow the pattern's case.
Column format_dates(const FunctionCall& call);

}  // namespace pistachio
