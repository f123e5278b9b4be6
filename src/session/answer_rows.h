// Results that are not produced by a query: the answers to SHOW, DESCRIBE and EXPLAIN.
#pragma once

#include <string>
#include <vector>

#include "data/scalar_value.h"
#include "session/session.h"

namespace pistachio {

void send_rows(ResultReceiver& receiver, const std::vector<ResultColumn>& columns, const std::vector<std::vector<ScalarValue>>& rows);

ScalarValue text_value(std::string text);

}  // namespace pistachio
