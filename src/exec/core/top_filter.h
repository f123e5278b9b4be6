// ORDER BY with LIMIT n while its input is read: the first sort key of the worst of the n best rows so far, over all lanes. Rows beyond this
// threshold cannot be among the first n, so that the sort drops them, and a scan below reads no more of them than this key. Rows equal to it
// still pass if there are more keys. On several ranks each has its own. On the host only: a GPU would wait for each new threshold.
// Thread-safe; used for one input at a time. Memory: the first keys of about 2n rows, charged to the sort.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/cancel_token.h"
#include "exec/core/held_chunks.h"
#include "physical/physical_node.h"
#include "storage/scan_threshold.h"

namespace pistachio {

class TopFilter {
 public:
  // Before the input is read; there is no threshold then. `keys` and `account` outlive the input.
  void begin(const std::vector<SortKey>& keys, int64_t limit, const MemoryAccount& account);
  // The first keys of rows that the sort retains, at most n of them.
  void add(const Column& keys, const CancelToken& token);
  // The input has been read: gives back the memory.
  void end();
  // Null: every row may be among the first n.
  std::shared_ptr<const ScanThreshold> threshold() const;

 private:
  void keep_best(const CancelToken& token);
  std::shared_ptr<const ScanThreshold> threshold_at(const ScalarValue& worst) const;

  mutable std::mutex mutex_;  // guards everything below
  const std::vector<SortKey>* keys_ = nullptr;
  int64_t limit_ = 0;
  std::optional<MemoryAccount> account_;
  std::optional<HeldChunks> best_;  // of one column each
  int64_t rows_at_last_choice_ = 0;
  std::shared_ptr<const ScanThreshold> threshold_;
};

}  // namespace pistachio
