// How a text file is to be read: marks, line ends, what means NULL. Given by the user or found in a sample. A value; safe to share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pistachio {

// The order of the numbers in dates such as 03/04/2020.
enum class DateOrder : uint8_t { YearFirst, DayFirst, MonthFirst };

struct TextDialect {
  char delimiter = ',';
  char quote = '"';                // 0: none
  char escape = '"';               // before a quote inside of quotes; 0: none
  char line_end = '\n';            // a \r before it belongs to it; '\r' in files without '\n'
  char comment = 0;                // lines that begin with it are skipped; 0: none
  bool pads_nulls = false;         // missing values at the end of a line are NULL
  bool quoted_may_be_null = true;  // whether "NA" in quotes is NULL if NA is
  DateOrder date_order = DateOrder::YearFirst;
  std::vector<std::string> null_texts = {""};
};

}  // namespace pistachio
