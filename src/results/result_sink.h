// Where the bytes of a result go: standard output or a file.
#pragma once

#include <string_view>
#include <utility>

#include "base/cancel_token.h"

namespace pistachio {

class ResultSink {
 public:
  virtual ~ResultSink() = default;
  // Later writes that would block end when this token is cancelled.
  virtual void set_token(CancelToken) {}
  virtual void write(std::string_view bytes) = 0;
};

}  // namespace pistachio
