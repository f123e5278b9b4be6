// Where the rows of a plan node lie over the ranks that run it, and what a node needs of its inputs.
#pragma once

#include <vector>

#include "expr/expression.h"

namespace pistachio {

struct Distribution {
  enum class Kind {
    Single,      // all rows on one rank
    Hashed,      // by the hash of `keys`: rows that agree in all of them are on one rank
    Scattered,   // each row on some rank
    Replicated,  // every rank has all rows
  };
  Kind kind = Kind::Single;
  std::vector<ExpressionPtr> keys;  // Hashed
  // Hashed: other keys that have the same values in every row, such as those of the other side of an inner join.
  std::vector<std::vector<ExpressionPtr>> equal_keys;

  std::string_view name() const;
};

struct Requirement {
  enum class Kind {
    Single,
    Once,        // each row on exactly one rank, no matter which
    Together,    // rows that agree in all of `keys` are on one rank
    Paired,      // by the hash of exactly `keys`, as the other input is by its own
    Everywhere,  // every rank has all rows
  };
  Kind kind = Kind::Single;
  std::vector<ExpressionPtr> keys;  // Together, Paired
};

bool satisfies(const Distribution& given, const Requirement& required);

}  // namespace pistachio
