// The row groups that a rank reads of a distributed scan: its own share first, then what other ranks have not started. Stragglers hand over work this
// way.
#pragma once

#include <atomic>
#include <vector>

#include "network/scan_shares.h"
#include "storage/unit_source.h"

namespace pistachio {

class SharedUnits final : public UnitSource {
 public:
  // `dealt` says for each rank what is its share. Ranks are asked that have more than `under_way` units, which is what they begin at once.
  SharedUnits(ScanShares& shares, uint32_t scan, const std::vector<std::vector<size_t>>& dealt, int rank, bool ask_others, int64_t under_way);
  // Others get nothing any more.
  ~SharedUnits() override;
  SharedUnits(const SharedUnits&) = delete;
  SharedUnits& operator=(const SharedUnits&) = delete;

  Task<std::optional<size_t>> next() override;
  // Units that were dealt to other ranks.
  int64_t from_others() const { return from_others_; }

 private:
  ScanShares& shares_;
  const uint32_t scan_;
  std::vector<int> owners_;                  // of all units: to whom each was dealt
  std::vector<int> others_;                  // worth asking, in order
  std::vector<std::atomic<bool>> has_none_;  // by rank
  std::atomic<int64_t> from_others_ = 0;
};

}  // namespace pistachio
