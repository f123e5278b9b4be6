// Shared by all conversions: names, positions, errors, and the depth limit. See tree_converter.h.
#include "parser/tree_converter.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stop_if_cancelled.h"

namespace pistachio {

TreeConverter::Descent::Descent(TreeConverter& converter, int64_t levels, int64_t chain_levels)
    : converter_(converter), levels_(levels), chain_levels_(chain_levels) {
  stop_if_cancelled(converter.token_);
  const ParseLimits& limits = converter.limits_;
  const int64_t statement = converter.tokens_.front().begin;
  if (converter.depth_ + levels > 4 * limits.nesting) {
    throw UserError(fmt::format("the statement is nested too deeply: more than {} levels", 4 * limits.nesting), statement);
  }
  if (converter.chain_depth_ + chain_levels > limits.chain) {
    throw UserError(fmt::format("too many operators, joins or set operations in a row: more than {}", limits.chain), statement);
  }
  converter.depth_ += levels;
  converter.chain_depth_ += chain_levels;
}

TreeConverter::Descent::~Descent() {
  converter_.depth_ -= levels_;
  converter_.chain_depth_ -= chain_levels_;
}

std::string TreeConverter::name(std::string_view written) const {
  const Marker* marker = rewritten_.find_marker(written);
  if (marker == nullptr) return std::string(written);
  if (marker->kind == Marker::Kind::File) throw UserError("a file name cannot be used here", marker->position);
  if (marker->kind == Marker::Kind::IgnoreNulls || marker->kind == Marker::Kind::RespectNulls)
    throw UserError("IGNORE NULLS and RESPECT NULLS belong behind the arguments of a window function", marker->position);
  return marker->value;
}

const Marker* TreeConverter::find_marker(const Json& column, Marker::Kind kind) const {
  if (kind_of(column) != "ColumnRef") return nullptr;
  const Json& fields = body_of(column).at("fields");
  if (fields.size() != 1 || kind_of(fields[0]) != "String") return nullptr;
  const Marker* marker = rewritten_.find_marker(text_field(body_of(fields[0]), "sval"));
  return marker != nullptr && marker->kind == kind ? marker : nullptr;
}

const Marker* TreeConverter::marker_of_call(const Json& call) const {
  const Json& written = call.at("funcname");
  return written.size() == 1 ? rewritten_.find_marker(text_field(body_of(written.front()), "sval")) : nullptr;
}

std::string TreeConverter::name_of_node(const Json& node) const {
  const std::string_view kind = kind_of(node);
  if (kind == "A_Star") refuse("* at this place", -1);
  if (kind == "A_Indices") refuse("A subscript", -1);
  return name(text_field(body_of(node), "sval"));
}

std::vector<std::string> TreeConverter::names(const Json* list) const {
  std::vector<std::string> result;
  if (list == nullptr) return result;
  result.reserve(list->size());
  for (const Json& node : *list) result.push_back(name_of_node(node));
  return result;
}

int64_t TreeConverter::position(const Json& body) const {
  const int64_t location = integer_field(body, "location");
  return location < 0 ? -1 : rewritten_.positions.to_original(location);
}

size_t TreeConverter::token_at(int64_t position) const {
  auto found = std::upper_bound(tokens_.begin(), tokens_.end(), position, [](int64_t at, const Token& token) { return at < token.end; });
  return static_cast<size_t>(found - tokens_.begin());
}

int64_t TreeConverter::position_of(std::initializer_list<std::string_view> words) const {
  auto found = std::search(tokens_.begin(), tokens_.end(), words.begin(), words.end(),
                           [&](const Token& token, std::string_view word) { return is_word(text_, token, word); });
  return found == tokens_.end() ? tokens_.front().begin : found->begin;
}

void TreeConverter::refuse(std::string_view what, int64_t position) const {
  throw UserError(fmt::format("{} is not supported", what), position < 0 ? tokens_.front().begin : position);
}

// Words as the user reads them in a manual: upper case.
void TreeConverter::refuse_words(std::initializer_list<std::string_view> words) const {
  std::string what;
  for (std::string_view word : words) {
    if (!what.empty()) what += ' ';
    for (char c : word) what += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  refuse(what, position_of(words));
}

}  // namespace pistachio
