// Sizes of a query's exchanges, from its settings and the measured links. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "config/settings.h"
#include "network/exchange_limits.h"
#include "network/link_survey.h"

namespace pistachio {

// Rows for another rank are buffered until they have this size, in bytes; 0: they are sent at once.
int64_t buffered_bytes(const Settings& settings);

// For each of a query's exchanges. The settings are those that came with the query: both ends must count with the same window.
ExchangeLimits exchange_limits(const Settings& settings, size_t exchanges, int ranks);

// For settings that leave the choice open.
int64_t suitable_message_bytes(const std::vector<MeasuredLink>& links, const ExchangeLimits& limits);
NetworkCompression suitable_compression(const std::vector<MeasuredLink>& links, const Settings& settings);

}  // namespace pistachio
