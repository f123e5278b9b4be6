#include "network/control_exchange.h"

namespace pistachio {

Task<std::vector<std::string>> ControlExchange::share(uint32_t topic, std::string own) {
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_) send_(rank, topic, own);
  }
  std::vector<std::string> all(static_cast<size_t>(ranks_));
  all[static_cast<size_t>(rank_)] = std::move(own);
  Arrivals& notes = arrivals(topic);
  for (int others = 1; others < ranks_; ++others) {
    Task<std::optional<std::pair<int, std::string>>> receiving = notes.receive();
    std::optional<std::pair<int, std::string>> note = co_await receiving;
    if (!note) break;
    all[static_cast<size_t>(note->first)] = std::move(note->second);
  }
  co_return all;
}

void ControlExchange::on_note(int source, uint32_t topic, std::string note) {
  if (topic >= topics_) return;  // not a topic of this plan
  auto bytes = static_cast<int64_t>(note.size());
  arrivals(topic).push({source, std::move(note)}, bytes);
}

ControlExchange::Arrivals& ControlExchange::arrivals(uint32_t topic) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Arrivals>& known = arrivals_[topic];
  if (!known) known = std::make_unique<Arrivals>(0);
  return *known;
}

}  // namespace pistachio
