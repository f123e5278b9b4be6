// Test helper: all ranks of a job in one process, over any transport.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "network/loopback_transport.h"
#include "network/ucx_transport.h"

namespace pistachio {

enum class TransportKind { Loopback, UcxTcp, UcxSharedMemory };

// Names of tests that run for each transport.
inline std::string transport_name(const testing::TestParamInfo<TransportKind>& info) {
  switch (info.param) {
    case TransportKind::Loopback: return "loopback";
    case TransportKind::UcxTcp: return "ucx_tcp";
    case TransportKind::UcxSharedMemory: return "ucx_shared_memory";
  }
  return "";
}

inline UcxOptions test_options(TransportKind kind, int rank, int ranks) {
  UcxOptions options;
  options.rank = rank;
  options.ranks = ranks;
  options.peer_timeout = std::chrono::seconds(30);  // for slow machines and sanitizers; tests of the timeout set their own
  options.ucx_settings = {{"TLS", kind == TransportKind::UcxTcp ? "tcp" : "sm"}};
  return options;
}

inline RankInfo test_rank(int rank, const std::string& address, int incarnation = 0) {
  return {.rank = rank,
          .host = "testhost",
          .host_index = 0,
          .pid = getpid(),
          .cores = 1,
          .address = address,
          .incarnation = incarnation};
}

class JobOfTransports {
 public:
  JobOfTransports(TransportKind kind, int ranks) : kind_(kind) {
    if (kind == TransportKind::Loopback) {
      loopback_ = std::make_unique<LoopbackNetwork>(ranks);
      return;
    }
    std::vector<UcxOptions> options;
    for (int rank = 0; rank < ranks; ++rank) options.push_back(test_options(kind, rank, ranks));
    connect_all(std::move(options));
  }
  // `hosts`: host indexes of the ranks; all on one host by default.
  explicit JobOfTransports(std::vector<UcxOptions> options, const std::vector<int>& hosts = {}) { connect_all(std::move(options), hosts); }

  Transport& operator[](int rank) {
    if (loopback_ != nullptr) return loopback_->transport(rank);
    return *ucx_[rank];
  }
  UcxTransport& ucx(int rank) { return *ucx_[rank]; }
  const std::vector<RankInfo>& ranks() const { return ranks_; }

  // Starts a new process in place of the rank, which knows all others; pass the result to their replace(). The old one lives on and may
  // still send until the end (over loopback it is stopped).
  RankInfo restart(int rank) {
    if (loopback_ != nullptr) return loopback_->restart(rank);
    UcxOptions options = test_options(kind_, rank, static_cast<int>(ranks_.size()));
    auto fresh = std::make_unique<UcxTransport>(options);
    RankInfo& info = ranks_[static_cast<size_t>(rank)];
    info = test_rank(rank, fresh->address(), info.incarnation + 1);
    fresh->connect(ranks_, key());
    replaced_.push_back(std::exchange(ucx_[static_cast<size_t>(rank)], std::move(fresh)));
    return info;
  }
  Transport& replaced(size_t place) { return *replaced_[place]; }

  // Before receivers are destroyed.
  void stop_all() {
    if (loopback_ != nullptr) loopback_.reset();
    for (auto& transport : ucx_) transport->stop();
    for (auto& transport : replaced_) transport->stop();
  }

  static JobSecret key() { return JobSecret::from_text("the secret of these tests, and of nobody else", "test"); }

 private:
  void connect_all(std::vector<UcxOptions> options, const std::vector<int>& hosts = {}) {
    for (UcxOptions& one : options) {
      int rank = one.rank;
      ucx_.push_back(std::make_unique<UcxTransport>(std::move(one)));
      ranks_.push_back(test_rank(rank, ucx_.back()->address()));
      if (!hosts.empty()) ranks_.back().host_index = hosts[static_cast<size_t>(rank)];
    }
    for (auto& transport : ucx_) transport->connect(ranks_, key());
  }

  TransportKind kind_ = TransportKind::Loopback;
  std::unique_ptr<LoopbackNetwork> loopback_;
  std::vector<std::unique_ptr<UcxTransport>> ucx_;
  std::vector<std::unique_ptr<UcxTransport>> replaced_;
  std::vector<RankInfo> ranks_;
};

}  // namespace pistachio
