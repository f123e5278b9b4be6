#include "network/scan_shares.h"

#include "base/check.h"

namespace pistachio {

void ScanShares::offer(uint32_t scan, const std::vector<size_t>& units) {
  std::lock_guard lock(mutex_);
  left_[scan].assign(units.begin(), units.end());
}

std::optional<size_t> ScanShares::take(uint32_t scan) {
  std::lock_guard lock(mutex_);
  std::deque<size_t>& left = left_[scan];
  if (left.empty()) return std::nullopt;
  size_t unit = left.front();
  left.pop_front();
  return unit;
}

void ScanShares::withdraw(uint32_t scan) {
  std::lock_guard lock(mutex_);
  left_.erase(scan);
}

Task<ScanShares::Answer> ScanShares::ask(int rank, uint32_t scan) {
  ask_(rank, scan);
  Task<std::optional<Answer>> receiving = answers(scan).receive();
  std::optional<Answer> answer = co_await receiving;
  ENSURE(answer.has_value(), "the answers of a scan have no end");
  co_return *answer;
}

void ScanShares::on_question(int source, uint32_t scan) {
  int64_t unit = kNone;
  {
    std::lock_guard lock(mutex_);
    auto found = left_.find(scan);
    if (found != left_.end() && !found->second.empty()) {
      unit = static_cast<int64_t>(found->second.back());
      found->second.pop_back();
    }
  }
  give_(source, scan, unit);
}

void ScanShares::on_answer(int source, uint32_t scan, int64_t unit) {
  Answer answer{source, unit < 0 ? std::nullopt : std::optional(static_cast<size_t>(unit))};
  answers(scan).push(answer, 0);
}

Channel<ScanShares::Answer>& ScanShares::answers(uint32_t scan) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Channel<Answer>>& known = answers_[scan];
  if (!known) known = std::make_unique<Channel<Answer>>(0);
  return *known;
}

}  // namespace pistachio
