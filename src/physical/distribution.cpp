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
  auto fits = [&](auto test) {
    if (given.kind != Given::Hashed) return false;
    return test(given.keys) || std::any_of(given.equal_keys.begin(), given.equal_keys.end(), test);
  };
  switch (required.kind) {
    case Requirement::Kind::Single: return given.kind == Given::Single;
    case Requirement::Kind::Once: return given.kind != Given::Replicated;
    case Requirement::Kind::Together:
      // Rows with equal required keys also have equal hash keys if those are a subset.
      return given.kind == Given::Single ||
             fits([&](const std::vector<ExpressionPtr>& keys) { return contains_all(required.keys, keys); });
    case Requirement::Kind::Paired: return fits([&](const std::vector<ExpressionPtr>& keys) { return same_keys(keys, required.keys); });
    case Requirement::Kind::Everywhere: return given.kind == Given::Replicated;
  }
  return false;
}

}  // namespace pistachio
