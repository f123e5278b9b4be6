// How the rows of a plan node are distributed over the ranks, and what a node requires of its inputs.
#pragma once

#include <vector>

#include "expr/expression.h"

namespace pistachio {

struct Distribution {
  enum class Kind {
    Single,      // all rows on one rank
    Hashed,      // by the hash of `keys`: rows with equal keys are on one rank
    Scattered,   // each row on some rank
    Replicated,  // every rank has all rows
  };
  Kind kind = Kind::Single;
  std::vector<ExpressionPtr> keys;  // Hashed
  // Hashed: other keys with the same values in every row, such as the keys of the other side of an inner join.
  std::vector<std::vector<ExpressionPtr>> equal_keys;

  std::string_view name() const;
};

struct Requirement {
  enum class Kind {
    Single,
    Once,        // each row on exactly one rank, any rank
    Together,    // rows with equal `keys` on one rank
    Paired,      // hashed by exactly `keys`, like the other input by its own keys
    Everywhere,  // every rank has all rows
  };
  Kind kind = Kind::Single;
  std::vector<ExpressionPtr> keys;  // Together, Paired
};

bool satisfies(const Distribution& given, const Requirement& required);

}  // namespace pistachio
