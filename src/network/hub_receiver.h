// Test helper: a hub on top of a transport that receives everything for its rank.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "network/exchange_hub.h"
#include "network/transport.h"

namespace pistachio {

class HubReceiver final : public MessageReceiver {
 public:
  explicit HubReceiver(Transport& transport, std::vector<int> hosts = {}) : hub(transport, std::move(hosts)) { transport.start(*this); }
  void on_message(int source, Message message) noexcept override { hub.take(source, message); }
  void on_peer_lost(int, std::string) noexcept override {}

  ExchangeHub hub;
};

}  // namespace pistachio
