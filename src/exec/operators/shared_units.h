// The row groups that a rank reads in a distributed scan: its own share first, then those that other ranks have not started. In this way
// stragglers hand over work.
#pragma once

#include <atomic>
#include <vector>

#include "network/scan_shares.h"
#include "storage/unit_source.h"

namespace pistachio {

class SharedUnits final : public UnitSource {
 public:
  // `dealt`: the share of each rank. Only ranks with more than `under_way` units are asked for work, since all ranks start that many at
  // once.
  SharedUnits(ScanShares& shares, uint32_t scan, const std::vector<std::vector<size_t>>& dealt, int rank, bool ask_others, int64_t under_way);
  // Withdraws the rank's share: other ranks get no more units of it.
  ~SharedUnits() override;
  SharedUnits(const SharedUnits&) = delete;
  SharedUnits& operator=(const SharedUnits&) = delete;

  Task<std::optional<size_t>> next() override;
  // Number of units taken over from other ranks.
  int64_t from_others() const { return from_others_; }

 private:
  ScanShares& shares_;
  const uint32_t scan_;
  std::vector<int> owners_;                  // by unit: the rank it was dealt to
  std::vector<int> others_;                  // ranks worth asking, in order
  std::vector<std::atomic<bool>> has_none_;  // by rank: it has no units left
  std::atomic<int64_t> from_others_ = 0;
};

}  // namespace pistachio
