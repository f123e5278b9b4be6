// Result receiver for statements that are run only for their time or profile.
#pragma once

#include <vector>

#include "session/session.h"

namespace pistachio {

class IgnoredResult final : public ResultReceiver {
 public:
  void begin(const std::vector<ResultColumn>&) override {}
  void add(const Chunk&) override {}
  void end() override {}
};

}  // namespace pistachio
