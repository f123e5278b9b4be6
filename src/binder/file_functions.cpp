#include "binder/file_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "binder/bind.h"

namespace pistachio {

namespace {

struct NamedFormat {
  std::string_view function;
  FileFormat format;
  std::optional<JsonLayout> layout;
};

constexpr NamedFormat kFileFunctions[] = {
    {"read_parquet", FileFormat::Parquet, {}},
    {"parquet_scan", FileFormat::Parquet, {}},
    {"read_csv", FileFormat::Csv, {}},
    {"read_csv_auto", FileFormat::Csv, {}},
    {"read_json", FileFormat::Json, {}},
    {"read_json_auto", FileFormat::Json, {}},
    {"read_arrow", FileFormat::Arrow, {}},
    {"read_feather", FileFormat::Arrow, {}},
    {"read_ndjson", FileFormat::Json, JsonLayout::Lines},
    {"read_ndjson_auto", FileFormat::Json, JsonLayout::Lines},
};

std::string without_outer_blanks(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return std::string(text);
}

// DECIMAL(10, 2), DOUBLE PRECISION, ... as text.
LogicalType type_of_text(const std::string& text) {
  ast::TypeName name;
  name.name = without_outer_blanks(text.substr(0, text.find('(')));
  for (char& letter : name.name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  constexpr std::pair<std::string_view, std::string_view> synonyms[] = {{"double precision", "double"},
                                                                        {"character varying", "varchar"},
                                                                        {"timestamp with time zone", "timestamptz"},
                                                                        {"timestamp without time zone", "timestamp"},
                                                                        {"datetime", "timestamp"}};
  for (const auto& [other, ours] : synonyms) {
    if (name.name == other) name.name = ours;
  }
  if (const size_t open = text.find('('); open != std::string::npos) {
    const size_t close = text.find(')', open);
    if (close == std::string::npos) throw UserError(fmt::format("{} is no type: a bracket is missing", text));
    std::string_view inside = std::string_view(text).substr(open + 1, close - open - 1);
    while (true) {
      const size_t comma = inside.find(',');
      const std::string digits = without_outer_blanks(inside.substr(0, comma));
      int64_t value = 0;
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
        throw UserError(fmt::format("{} is no type", text));
      name.modifiers.push_back(value);
      if (comma == std::string_view::npos) break;
      inside.remove_prefix(comma + 1);
    }
  }
  return resolve_type(name);
}

ReadOption constant_option(const ast::TableOption& option, const CancelToken& token) {
  ReadOption made{.name = option.name, .values = {}, .keys = option.keys, .is_list = option.is_list, .position = option.position};
  for (const ast::ExpressionPtr& value : option.values) {
    const ScalarValue constant = bind_constant(*value, token);
    if (constant.is_null) throw UserError(fmt::format("the option {} is NULL", option.name), value->position);
    made.values.push_back(constant.to_string());
  }
  return made;
}

}  // namespace

std::optional<FileFunction> bind_file_function(const ast::TableFunction& node, int64_t position, const CancelToken& token) {
  const auto* known =
      std::find_if(std::begin(kFileFunctions), std::end(kFileFunctions), [&](const NamedFormat& one) { return one.function == node.name; });
  if (known == std::end(kFileFunctions)) return std::nullopt;
  FileFunction result;
  for (const ast::ExpressionPtr& argument : node.arguments) {
    const ScalarValue path = bind_constant(*argument, token);
    if (path.is_null || path.type.kind() != TypeKind::Varchar)
      throw UserError(fmt::format("{} takes paths as text", node.name), argument->position);
    result.paths.push_back(path.text);
  }
  if (result.paths.empty()) throw UserError(fmt::format("{} needs a path", node.name), position);
  std::vector<ReadOption> options;
  for (const ast::TableOption& option : node.options) options.push_back(constant_option(option, token));
  result.options = read_options_of(node.name, known->format, options, type_of_text);
  if (known->layout && !result.options.layout) result.options.layout = known->layout;
  return result;
}

std::string_view file_function_names() {
  return "read_parquet, read_csv, read_json, read_ndjson, read_arrow";
}

}  // namespace pistachio
