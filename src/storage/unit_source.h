// Decides at run time which units of its plan a scan reads.
#pragma once

#include <optional>

#include "base/task.h"

namespace pistachio {

class UnitSource {
 public:
  virtual ~UnitSource() = default;
  // Index of the next unit in the plan; nullopt at the end and on every later call. Thread-safe.
  virtual Task<std::optional<size_t>> next() = 0;
};

}  // namespace pistachio
