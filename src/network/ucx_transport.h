// Messages between the ranks of a job over UCX: RDMA, TCP, or shared memory within a host, whichever UCX prefers for each pair. Large payloads
// travel in pieces directly into the receiver's memory. A peer that dies or goes silent is detected within seconds.
// Threads: one, the only user of UCX after connect(); send() queues and wakes it. UCX has another thread of its own.
// Memory: payloads until they are sent, incomplete messages, and UCX's connection state.
//   UcxTransport transport(options);
//   ... exchange transport.address() with the others (rendezvous.h) ...
//   transport.connect(job, key);
//   transport.start(receiver);
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "network/job_secret.h"
#include "network/rank_info.h"
#include "network/transport.h"

namespace pistachio {

struct UcxOptions {
  int rank = 0;
  int ranks = 1;
  // A connected peer that is silent for this long is lost; an idle rank sends a heartbeat every interval.
  std::chrono::milliseconds peer_timeout{5'000};
  std::chrono::milliseconds heartbeat_interval{500};
  // How long a peer may take until its first message.
  std::chrono::milliseconds connect_timeout{30'000};
  // Bytes of payload per second that may leave this rank, and as many that may arrive, for benchmarks; 0: no limit. If the job has several
  // hosts, messages within a host do not count.
  int64_t link_bandwidth_limit = 0;
  bool checksum = false;
  // Largest piece of a payload: small enough to pass in far less than peer_timeout, large enough for full bandwidth.
  int64_t piece_bytes = int64_t{4} << 20;
  // UCX settings by name without the prefix UCX_; they override its environment variables.
  std::vector<std::pair<std::string, std::string>> ucx_settings;
  Logger logger{LogLevel::Warning};
};

class UcxProgress;

class UcxTransport final : public Transport {
 public:
  // Throws UserError if UCX cannot start.
  explicit UcxTransport(UcxOptions options);
  // Calls stop() first: the receiver is not called afterwards.
  ~UcxTransport() override;

  // What the others need to reach this rank: bytes for RankInfo::address.
  const std::string& address() const { return address_; }
  // `job` has all ranks in order, including this one. Messages can be sent from here on. Throws PeerError if a rank cannot be reached at
  // all. Ranks in `lost` are absent now and may be replaced later.
  void connect(const std::vector<RankInfo>& job, const JobSecret& key, const std::vector<int>& lost = {});

  int rank() const override;
  int ranks() const override;
  void start(MessageReceiver& receiver) override;
  void stop() override;
  void send(int peer, Message message, SentCallback on_sent = {}) override;
  void replace(RankInfo peer) override;
  void cut() override;
  TransportStatistics statistics() const override;
  std::string recent_messages() const override;

  // The transport that UCX chose for a rank, `sysv/memory` or `tcp/eth0`; empty for this rank itself and before connect().
  std::string route(int rank) const;

 private:
  std::unique_ptr<UcxProgress> progress_;
  std::string address_;
};

}  // namespace pistachio
