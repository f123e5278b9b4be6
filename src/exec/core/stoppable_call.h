// Calls kernels that can be stopped (kernels/ops/stop_flag.h) under a token: the flag is set when the token is cancelled.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/cancel_token.h"
#include "base/error.h"
#include "kernels/ops/stop_flag.h"

namespace pistachio {

// Returns body(stop); the body passes `stop` to kernels. Throws Cancelled with the token's reason.
template <typename Body>
auto call_stoppable(const CancelToken& token, const Body& body) {
  token.throw_if_cancelled();
  kernels::StopFlag stop;
  CancelCallback stop_with_token(token, [&stop] { stop.set(); });
  try {
    return body(stop.tensor());
  } catch (const Cancelled&) {
    token.throw_if_cancelled();  // with its reason
    throw;
  }
}

}  // namespace pistachio
