#include "network/launcher_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/byte_stream.h"
#include "base/error.h"

namespace pistachio {

namespace {

using namespace std::chrono_literals;

std::string key_of(const JobIdentity& identity) {
  return fmt::format("pistachio/{}/meeting", identity.attempt);
}

c10::intrusive_ptr<c10d::TCPStore> connect_to_launcher(const JobIdentity& identity, const LauncherStoreOptions& options) {
  c10d::TCPStoreOptions own;
  own.port = static_cast<uint16_t>(identity.master_port);
  own.isServer = false;
  own.waitWorkers = false;
  own.timeout = options.timeout;
  return c10::make_intrusive<c10d::TCPStore>(identity.master_address, own);
}

// Runs `work` and translates the library's errors.
template <typename Work>
void with_launcher(const JobIdentity& identity, Work work) {
  try {
    work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    std::string text = problem.what();
    throw UserError(fmt::format("rank {} cannot use torchrun's store at {}:{}: {}", identity.rank, identity.master_address, identity.master_port,
                                text.substr(0, text.find('\n'))));
  }
}

std::string signed_port(const JobIdentity& identity, const JobSecret& secret, int port) {
  ByteWriter words;
  words.put<int32_t>(port);
  words.put_text(secret.prove("meeting port", {identity.attempt, std::to_string(port)}));
  return words.take();
}

std::optional<int> port_of(const std::string& words, const JobIdentity& identity, const JobSecret& secret) {
  try {
    ByteReader reader(words);
    const int port = reader.get<int32_t>();
    const std::string proof = reader.get_text();
    if (secret.is_proof(proof, "meeting port", {identity.attempt, std::to_string(port)})) return port;
  } catch (const PeerError&) {
    // Not written by a rank of this job.
  }
  return std::nullopt;
}

}  // namespace

void publish_meeting_port(const JobIdentity& identity, const JobSecret& secret, int port, const LauncherStoreOptions& options) {
  with_launcher(identity, [&] {
    const std::string value = signed_port(identity, secret, port);
    connect_to_launcher(identity, options)->set(key_of(identity), std::vector<uint8_t>(value.begin(), value.end()));
  });
}

int find_meeting_port(const JobIdentity& identity, const JobSecret& secret, const LauncherStoreOptions& options) {
  using Clock = std::chrono::steady_clock;
  std::optional<int> port;
  std::optional<std::vector<uint8_t>> refused;  // the last value without a valid signature
  Clock::time_point refused_at;
  const Clock::time_point deadline = Clock::now() + options.timeout;
  with_launcher(identity, [&] {
    auto store = connect_to_launcher(identity, options);
    for (std::chrono::milliseconds pause = 2ms; Clock::now() < deadline; pause = std::min(2 * pause, 100ms)) {
      if (store->check({key_of(identity)})) {
        std::vector<uint8_t> words = store->get(key_of(identity));
        port = port_of(std::string(words.begin(), words.end()), identity, secret);
        if (port) return;
        if (words != refused) {
          refused = std::move(words);
          refused_at = Clock::now();
        } else if (Clock::now() >= refused_at + options.wrong_signature_patience) {
          return;
        }
      }
      if (options.while_waiting) options.while_waiting();
      std::this_thread::sleep_for(pause);
    }
  });
  if (port) return *port;
  const char* found = !refused ? "no rank 0" : "a rank 0 with a different secret";
  const std::string advice = !refused ? "is rank 0 running?" : fmt::format("{} must be the same for all ranks", kSecretVariable);
  throw UserError(fmt::format("rank {} found {} in torchrun's store at {}:{}: {}", identity.rank, found, identity.master_address,
                              identity.master_port, advice));
}

}  // namespace pistachio
