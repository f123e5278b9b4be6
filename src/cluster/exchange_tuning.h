// How a query's exchanges run, decided from its settings and the measured links. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "config/settings.h"
#include "network/exchange_limits.h"
#include "network/link_survey.h"

namespace pistachio {

// Decided by the leading rank and sent with the plan: both ends of an exchange must use the same window.
struct ExchangeTuning {
  ExchangeLimits limits;       // of each exchange
  int64_t buffered_bytes = 0;  // rows for another rank are buffered until they have this size; 0: they are sent at once
};

// Settings that leave a choice open are decided by `links`.
ExchangeTuning tune_exchanges(const Settings& settings, const std::vector<MeasuredLink>& links, size_t exchanges, int ranks);

}  // namespace pistachio
