// ORDER BY with LIMIT n while its input is read: the threshold is the first sort key of the worst of the n best rows so far, over all lanes. The
// sort drops rows beyond it, and a scan below reads nothing but this key of them. Rows that tie with the threshold still pass if there are more
// sort keys, or while a scan has only announced the n best rows and the sort does not retain them yet. On several ranks each has its own. On the
// host only: a GPU would wait for each new threshold.
// Thread-safe between begin() and end(). Memory: the first keys of about 4n rows, charged to the sort.
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
  // Before the input is read; there is no threshold then.
  void begin(const std::vector<SortKey>& keys, int64_t limit, const MemoryAccount& account);
  // The first keys of rows that the sort retains, each once.
  void add_retained(const Column& keys, const CancelToken& token);
  // Of rows that a scan has found, all of which will reach the sort, each once.
  void add_announced(const Column& keys, const CancelToken& token);
  // Memory is short: gives it back. The threshold stays as it is.
  void stop_counting();
  // The input has been read: gives back the memory.
  void end();
  // Null: every row may be among the first n.
  std::shared_ptr<const ScanThreshold> threshold() const;

 private:
  // The best of some rows, by their first keys.
  struct BestKeys {
    std::optional<HeldChunks> keys;  // of one column each; nullopt after stop_counting()
    int64_t rows_at_last_choice = 0;
    std::optional<ScalarValue> worst;  // once there are n
  };
  void add(BestKeys& best, const Column& keys, const CancelToken& token);
  void add_locked(BestKeys& best, const Column& first, const CancelToken& token);
  void drop_keys();
  Column first_of(const Column& keys, const CancelToken& token) const;
  void choose_threshold();
  std::shared_ptr<const ScanThreshold> threshold_at(const ScalarValue& worst, bool passes_ties) const;
  bool comes_before(const ScalarValue& left, const ScalarValue& right) const;

  // Set by begin().
  SortKey key_;
  bool is_only_key_ = false;
  int64_t limit_ = 0;
  std::optional<MemoryAccount> account_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  BestKeys retained_;
  BestKeys announced_;
  std::shared_ptr<const ScanThreshold> threshold_;
};

}  // namespace pistachio
