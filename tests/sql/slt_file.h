// A sqllogictest file: statements with their expected results. The usual dialect, with tabs between the values of a row:
//   statement ok | statement error TEXT      a statement that must succeed, or fail with this text in its message
//   query [ordered]                          a query; its rows follow after a line ----, sorted on both sides unless `ordered`
//   # ...                                    a comment; `# judge: no` exempts the next statement from the check against DuckDB
// NULL is written NULL, an empty text (empty). Numbers with a point or an exponent compare to 1e-9, all else as text.
#pragma once

#include <string>
#include <vector>

namespace pistachio::test {

struct SltCase {
  enum class Kind { Ok, Error, Query };
  Kind kind = Kind::Ok;
  bool ordered = false;
  int line = 0;
  std::string sql;
  std::string error;
  std::vector<std::string> rows;
};

// Throws std::runtime_error naming file and line.
std::vector<SltCase> read_slt_file(const std::string& path);

// Empty if they agree; else what differs.
std::string compare_rows(std::vector<std::string> expected, std::vector<std::string> actual, bool ordered);

}  // namespace pistachio::test
