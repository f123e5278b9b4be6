#include "network/link_calibration.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsPerSize = 0.004;
constexpr double kMaxMessagesPerSize = 1000;
constexpr std::chrono::seconds kLongestWait{60};

struct BatchHead {
  uint64_t batch = 0;
  uint32_t messages = 0;
};

std::string pack(const BatchHead& head) {
  std::string bytes(sizeof(head.batch) + sizeof(head.messages), '\0');
  std::memcpy(bytes.data(), &head.batch, sizeof(head.batch));
  std::memcpy(bytes.data() + sizeof(head.batch), &head.messages, sizeof(head.messages));
  return bytes;
}

BatchHead unpack(const std::string& bytes) {
  BatchHead head;
  if (bytes.size() != sizeof(head.batch) + sizeof(head.messages)) return head;
  std::memcpy(&head.batch, bytes.data(), sizeof(head.batch));
  std::memcpy(&head.messages, bytes.data() + sizeof(head.batch), sizeof(head.messages));
  return head;
}

}  // namespace

int64_t smallest_fast_size(const std::vector<LinkSpeed>& table, double share) {
  double best = 0;
  for (const LinkSpeed& speed : table) best = std::max(best, speed.bytes_per_second);
  int64_t smallest = 0;
  // From the largest down: a fast small size below slow ones is noise. The largest sizes may be slower than the best (caches, first touch),
  // which says nothing about smaller ones.
  bool reached = false;
  for (auto speed = table.rbegin(); speed != table.rend(); ++speed) {
    bool fast = speed->bytes_per_second >= share * best;
    if (reached && !fast) break;
    if (fast) smallest = speed->message_bytes;
    reached = reached || fast;
  }
  return smallest;
}

std::vector<LinkSpeed> LinkCalibrator::measure(int peer, int64_t largest, std::chrono::milliseconds timeout) {
  at::Tensor payload = at::zeros({std::max(largest, kSmallestMessage)}, at::kByte);
  time_batch(peer, payload.slice(0, 0, kSmallestMessage), 1);  // establishes the connection
  std::vector<LinkSpeed> table;
  for (int64_t bytes = kSmallestMessage; bytes <= payload.numel(); bytes *= 4) {
    at::Tensor part = payload.slice(0, 0, bytes);
    double seconds = time_batch(peer, part, 1);
    bool is_slow = seconds > std::chrono::duration<double>(timeout).count();
    int messages = 1;
    if (seconds < kSecondsPerSize) {
      messages = static_cast<int>(std::clamp(2 * kSecondsPerSize / std::max(seconds, 1e-6), 2.0, kMaxMessagesPerSize));
      seconds = time_batch(peer, part, messages);
    }
    table.push_back({bytes, static_cast<double>(bytes) * messages / std::max(seconds, 1e-9)});
    if (is_slow) break;
  }
  return table;
}

double LinkCalibrator::time_batch(int peer, const at::Tensor& payload, int messages) {
  BatchHead head{0, static_cast<uint32_t>(messages)};
  uint64_t losses_before = 0;
  {
    std::lock_guard lock(mutex_);
    head.batch = next_batch_++;
    losses_before = losses_.count(peer);
  }
  Clock::time_point begin = Clock::now();
  for (int i = 0; i < messages; ++i) transport_.send(peer, {kDataKind, pack(head), payload});
  std::unique_lock lock(mutex_);
  bool woken = changed_.wait_for(lock, kLongestWait, [&] { return answered_batch_ == head.batch || losses_.is_gone(peer, losses_before); });
  if (answered_batch_ == head.batch) return std::chrono::duration<double>(Clock::now() - begin).count();
  throw PeerError(peer, woken ? "the link could not be measured: " + losses_.why(peer)
                              : fmt::format("the link could not be measured: no answer for {} s", kLongestWait.count()));
}

void LinkCalibrator::on_message(int source, Message message) noexcept {
  if (message.kind == kDataKind) return count_data(source, message);
  if (message.kind != kAnswerKind) return;
  std::lock_guard lock(mutex_);
  answered_batch_ = unpack(message.head).batch;
  changed_.notify_all();
}

void LinkCalibrator::count_data(int source, const Message& message) {
  BatchHead head = unpack(message.head);
  {
    std::lock_guard lock(mutex_);
    uint32_t& received = received_[{source, head.batch}];
    if (++received < head.messages) return;
    received_.erase({source, head.batch});
  }
  transport_.send(source, {kAnswerKind, message.head, {}});
}

void LinkCalibrator::on_peer_lost(int peer, std::string why) noexcept {
  std::lock_guard lock(mutex_);
  losses_.lose(peer, std::move(why));
  changed_.notify_all();
}

void LinkCalibrator::on_peer_replaced(const RankInfo& peer) noexcept {
  std::lock_guard lock(mutex_);
  losses_.restore(peer.rank);
}

}  // namespace pistachio
