#include "tests/sql/slt_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace pistachio::test {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

bool as_number(const std::string& text, double& number) {
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

bool same_value(const std::string& expected, const std::string& actual) {
  if (expected == actual) return true;
  bool fractional = (expected + actual).find_first_of(".e") != std::string::npos;
  double left = 0;
  double right = 0;
  if (!fractional || !as_number(expected, left) || !as_number(actual, right)) return false;
  return std::abs(left - right) <= 1e-9 * std::max(std::abs(left), std::abs(right));
}

bool same_row(const std::string& expected, const std::string& actual) {
  if (expected == actual) return true;
  std::vector<std::string> left = split(expected, '\t');
  std::vector<std::string> right = split(actual, '\t');
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(), same_value);
}

}  // namespace

std::vector<SltCase> read_slt_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<SltCase> cases;
  std::string text;
  int line = 0;
  auto next = [&] {
    ++line;
    return static_cast<bool>(std::getline(file, text));
  };
  while (next()) {
    if (text.empty() || text[0] == '#') continue;
    SltCase made;
    made.line = line;
    if (text == "statement ok") {
      made.kind = SltCase::Kind::Ok;
    } else if (text.starts_with("statement error")) {
      made.kind = SltCase::Kind::Error;
      made.error = text.size() > 16 ? text.substr(16) : "";
    } else if (text == "query" || text == "query ordered") {
      made.kind = SltCase::Kind::Query;
      made.ordered = text == "query ordered";
    } else {
      throw std::runtime_error(fmt::format("{}:{}: expected a statement or a query, not '{}'", path, line, text));
    }
    while (next() && !text.empty() && text != "----") made.sql += (made.sql.empty() ? "" : "\n") + text;
    if (text == "----") {
      while (next() && !text.empty()) made.rows.push_back(text);
    } else if (made.kind == SltCase::Kind::Query) {
      throw std::runtime_error(fmt::format("{}:{}: a query without ----", path, made.line));
    }
    cases.push_back(std::move(made));
    text.clear();
  }
  return cases;
}

std::string compare_rows(std::vector<std::string> expected, std::vector<std::string> actual, bool ordered) {
  if (!ordered) {
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
  }
  for (size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    bool same = i < expected.size() && i < actual.size() && same_row(expected[i], actual[i]);
    if (same) continue;
    return fmt::format("{} rows expected, {} came; row {}: expected '{}', got '{}'", expected.size(), actual.size(), i,
                       i < expected.size() ? expected[i] : "(none)", i < actual.size() ? actual[i] : "(none)");
  }
  return "";
}

}  // namespace pistachio::test
