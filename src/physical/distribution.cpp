#include "physical/distribution.h"

#include <algorithm>

namespace pistachio {

namespace {

bool same_keys(const std::vector<ExpressionPtr>& left, const std::vector<ExpressionPtr>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const ExpressionPtr& one, const ExpressionPtr& other) { return same_expression(*one, *other); });
}

bool contains_all(const std::vector<ExpressionPtr>& keys, const std::vector<ExpressionPtr>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const ExpressionPtr& one) {
    return std::any_of(keys.begin(), keys.end(), [&](const ExpressionPtr& key) { return same_expression(*key, *one); });
  });
}

}  // namespace

std::string_view Distribution::name() const {
  switch (kind) {
    case Kind::Single: return "single";
    case Kind::Hashed: return "hashed";
    case Kind::Scattered: return "scattered";
    case Kind::Replicated: return "replicated";
  }
  return "";
}

bool satisfies(const Distribution& given, const Requirement& required) {
  using Given = Distribution::Kind;
  switch (required.kind) {
    case Requirement::Kind::Single: return given.kind == Given::Single;
    case Requirement::Kind::Once: return given.kind != Given::Replicated;
    case Requirement::Kind::Together:
      // Rows that agree in all required keys agree in the fewer keys they were hashed by.
      return given.kind == Given::Single || (given.kind == Given::Hashed && contains_all(required.keys, given.keys));
    case Requirement::Kind::Paired: return given.kind == Given::Hashed && same_keys(given.keys, required.keys);
    case Requirement::Kind::Everywhere: return given.kind == Given::Replicated;
  }
  return false;
}

}  // namespace pistachio
