#include "network/launcher_store.h"

#include <fmt/format.h>

#include <algorithm>
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
  std::optional<int> port;
  const auto deadline = std::chrono::steady_clock::now() + options.timeout;
  with_launcher(identity, [&] {
    auto store = connect_to_launcher(identity, options);
    for (std::chrono::milliseconds pause = 2ms; !port && std::chrono::steady_clock::now() < deadline; pause = std::min(2 * pause, 100ms)) {
      if (store->check({key_of(identity)})) {
        const std::vector<uint8_t> words = store->get(key_of(identity));
        port = port_of(std::string(words.begin(), words.end()), identity, secret);
      }
      if (port) break;
      if (options.while_waiting) options.while_waiting();
      std::this_thread::sleep_for(pause);
    }
  });
  if (!port) {
    throw UserError(fmt::format("rank {} found no rank 0 with the same secret in torchrun's store at {}:{}: {} must be the same for all ranks",
                                identity.rank, identity.master_address, identity.master_port, kSecretVariable));
  }
  return *port;
}

}  // namespace pistachio
