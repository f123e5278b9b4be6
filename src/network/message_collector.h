// Test helpers for transports: receivers and callbacks that record what arrives and let a test wait for it. Waits throw after a minute, so that a lost
// message fails the test instead of hanging it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/tensor_functions.h"
#include "network/transport.h"

namespace pistachio {

constexpr std::chrono::seconds kTestTimeout{60};

class MessageCollector : public MessageReceiver {
 public:
  struct Received {
    int source = 0;
    Message message;
  };
  using Lost = std::vector<std::pair<int, std::string>>;

  void on_message(int source, Message message) noexcept override {
    std::lock_guard lock(mutex_);
    messages_.push_back({source, std::move(message)});
    changed_.notify_all();
  }
  void on_peer_lost(int peer, std::string why) noexcept override {
    std::lock_guard lock(mutex_);
    lost_.emplace_back(peer, std::move(why));
    changed_.notify_all();
  }

  void on_peer_replaced(const RankInfo& peer) noexcept override {
    std::lock_guard lock(mutex_);
    replaced_.push_back(peer);
    changed_.notify_all();
  }

  std::vector<RankInfo> wait_for_replaced(size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestTimeout, [&] { return replaced_.size() >= count; })) {
      throw std::runtime_error("only " + std::to_string(replaced_.size()) + " of " + std::to_string(count) + " peers were replaced");
    }
    return replaced_;
  }
  std::vector<Received> wait_for_messages(size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestTimeout, [&] { return messages_.size() >= count; })) {
      throw std::runtime_error("only " + std::to_string(messages_.size()) + " of " + std::to_string(count) + " messages came");
    }
    return messages_;
  }
  Lost wait_for_lost(size_t count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestTimeout, [&] { return lost_.size() >= count; })) {
      throw std::runtime_error("only " + std::to_string(lost_.size()) + " of " + std::to_string(count) + " peers were lost");
    }
    return lost_;
  }
  std::vector<Received> messages() const {
    std::lock_guard lock(mutex_);
    return messages_;
  }
  Lost lost() const {
    std::lock_guard lock(mutex_);
    return lost_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Received> messages_;
  Lost lost_;
  std::vector<RankInfo> replaced_;
};

class SentCounter {
 public:
  Transport::SentCallback callback() {
    return [this](std::exception_ptr error) {
      std::lock_guard lock(mutex_);
      ended_ += 1;
      if (error) failed_ += 1;
      if (error) error_ = error;
      changed_.notify_all();
    };
  }
  int wait_for(int count) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestTimeout, [&] { return ended_ >= count; })) {
      throw std::runtime_error("only " + std::to_string(ended_) + " of " + std::to_string(count) + " sends ended");
    }
    return ended_;
  }
  int ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
  }
  int failed() const {
    std::lock_guard lock(mutex_);
    return failed_;
  }
  std::string error_text() const {
    std::lock_guard lock(mutex_);
    try {
      if (error_) std::rethrow_exception(error_);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int ended_ = 0;
  int failed_ = 0;
  std::exception_ptr error_;
};

// 0, 1, 2, ..., so that a misplaced byte is detected.
inline at::Tensor numbered_bytes(int64_t bytes, int seed = 0) {
  at::Tensor tensor = at::empty({bytes}, at::kByte);
  uint8_t* values = tensor.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>((i * 2654435761u + static_cast<uint32_t>(seed)) >> 11);
  return tensor;
}

}  // namespace pistachio
