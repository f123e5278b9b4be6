#include "exec/operators/shared_units.h"

#include <algorithm>

#include "base/error.h"

namespace pistachio {

SharedUnits::SharedUnits(ScanShares& shares, uint32_t scan, const std::vector<std::vector<size_t>>& dealt, int rank, bool ask_others,
                         int64_t under_way)
    : shares_(shares), scan_(scan), has_none_(dealt.size()) {
  auto ranks = static_cast<int>(dealt.size());
  // Starts with the next rank, so that ranks that finish at the same time do not all ask the same one.
  for (int step = 1; ask_others && step < ranks; ++step) {
    int other = (rank + step) % ranks;
    if (static_cast<int64_t>(dealt[static_cast<size_t>(other)].size()) > under_way) others_.push_back(other);
  }
  for (const std::vector<size_t>& share : dealt) owners_.resize(owners_.size() + share.size());
  for (int owner = 0; owner < ranks; ++owner) {
    for (size_t unit : dealt[static_cast<size_t>(owner)]) owners_[unit] = owner;
  }
  shares_.offer(scan_, dealt[static_cast<size_t>(rank)]);
}

SharedUnits::~SharedUnits() {
  shares_.withdraw(scan_);
}

Task<std::optional<size_t>> SharedUnits::next() {
  if (std::optional<size_t> own = shares_.take(scan_)) co_return own;
  while (true) {
    auto other = std::find_if(others_.begin(), others_.end(), [&](int rank) { return !has_none_[static_cast<size_t>(rank)]; });
    if (other == others_.end()) co_return std::nullopt;
    Task<ScanShares::Answer> asking = shares_.ask(*other, scan_);
    ScanShares::Answer answer = co_await asking;
    if (answer.unit) {
      bool is_possible = *answer.unit < owners_.size() && owners_[*answer.unit] == answer.rank;
      if (!is_possible) throw PeerError(answer.rank, "a message is damaged: it hands over a part of a table that its sender does not own");
      ++from_others_;
      co_return answer.unit;
    }
    has_none_[static_cast<size_t>(answer.rank)] = true;
  }
}

}  // namespace pistachio
