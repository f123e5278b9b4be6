#include "spill/spill_space.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/format_bytes.h"

namespace pistachio {

void SpillSpace::take(int64_t bytes, const SpillLimits& limits) {
  const int64_t before = bytes_.fetch_add(bytes);
  if (limits.most_bytes == 0 || before + bytes <= limits.most_bytes) return;
  bytes_ -= bytes;
  throw UserError(fmt::format("cannot spill {} more to {}: max_temp_size is {} and {} is in use; raise max_temp_size or memory_limit",
                              format_bytes(bytes), limits.folder, format_bytes(limits.most_bytes), format_bytes(before)));
}

}  // namespace pistachio
