// Which units of its plan a scan reads, where that is decided while it runs.
#pragma once

#include <optional>

#include "base/task.h"

namespace pistachio {

class UnitSource {
 public:
  virtual ~UnitSource() = default;
  // The place of the next unit in the plan; nothing at the end, and from then on. Several tasks may ask at the same time.
  virtual Task<std::optional<size_t>> next() = 0;
};

}  // namespace pistachio
