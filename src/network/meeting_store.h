// The key-value store through which the ranks of a job find each other. Rank 0 serves it over TCP. Client and server authenticate each other
// with an HMAC over both nonces before any request is parsed. Unauthenticated connections are limited in number, memory and time, so a
// stranger who can reach the port can neither read nor write the store, nor keep ranks out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/job_secret.h"

namespace pistachio {

// Serves on its own thread until destroyed.
class RendezvousServer {
 public:
  // Listens on all addresses of this machine; port 0: any. Throws UserError.
  RendezvousServer(int port, const JobSecret& secret);
  ~RendezvousServer();
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

  int port() const;

  // Limits for connections that have not authenticated yet. At the limit the oldest one is closed.
  static constexpr size_t kMaxUnauthenticated = 128;
  static constexpr std::chrono::milliseconds kAuthenticationTimeout{5'000};

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// One connection to the store. Blocks the caller; one thread at a time.
class RendezvousClient {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // Connects and authenticates; retries until the deadline if the connection breaks before that. Throws UserError if the secrets differ or
  // the peer speaks another protocol.
  RendezvousClient(const std::string& host, int port, const JobSecret& secret, Deadline deadline);
  ~RendezvousClient();
  RendezvousClient(const RendezvousClient&) = delete;
  RendezvousClient& operator=(const RendezvousClient&) = delete;

  // All requests throw UserError if the connection breaks.
  void put(const std::string& key, const std::string& value);
  std::optional<std::string> get(const std::string& key);
  // Returns the new sum.
  int64_t add(const std::string& key, int64_t more);
  bool has_all(const std::vector<std::string>& keys);

 private:
  std::string ask(const std::string& request);

  int socket_ = -1;
};

}  // namespace pistachio
