// Sums and differences of dates, times and intervals, and functions based on them. Function bodies (expr/function.h); results out of the
// range of their type are errors. Months are added first, then days, then time (PostgreSQL).
#pragma once

#include "expr/function.h"

namespace pistachio {

// DATE with whole days; either order for the sum.
Column add_days(const FunctionCall& call);
Column subtract_days(const FunctionCall& call);
Column subtract_dates(const FunctionCall& call);  // whole days

// DATE or a timestamp with INTERVAL; either order for the sum. Nanoseconds are kept.
Column add_interval(const FunctionCall& call);
Column subtract_interval(const FunctionCall& call);
Column add_date_and_time(const FunctionCall& call);
Column subtract_timestamps(const FunctionCall& call);  // days and time, rounded to microseconds

Column add_interval_to_time(const FunctionCall& call);
Column subtract_interval_from_time(const FunctionCall& call);
Column subtract_times(const FunctionCall& call);

Column add_intervals(const FunctionCall& call);
Column subtract_intervals(const FunctionCall& call);
Column negate_interval(const FunctionCall& call);
Column multiply_interval(const FunctionCall& call);  // with DOUBLE, either order
Column divide_interval(const FunctionCall& call);    // by DOUBLE

Column age_between(const FunctionCall& call);    // timestamp, timestamp
Column count_borders(const FunctionCall& call);  // unit, from, to: timestamps of one type

// The last day of the month of a DATE.
Column last_day_of_month(const FunctionCall& call);
Column make_date(const FunctionCall& call);           // year, month, day
Column make_timestamp(const FunctionCall& call);      // year, month, day, hour, minute, second DOUBLE
Column timestamp_of_epoch(const FunctionCall& call);  // DOUBLE seconds

// Nanoseconds since 1970 of a timestamp, and back.
Column epoch_nanoseconds(const FunctionCall& call);
Column timestamp_of_nanoseconds(const FunctionCall& call);

}  // namespace pistachio
