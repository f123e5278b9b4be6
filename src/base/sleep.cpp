#include "base/sleep.h"

#include "base/scheduler.h"

namespace pistachio {

bool Sleep::await_suspend(SuspendedTask task) {
  task_ = task;
  timer_.emplace(task.context->scheduler->timers(), until_, [this] { wake(); });
  cancel_callback_.emplace(task.context->token, [this] { wake(); });
  return steps_left_.fetch_sub(1, std::memory_order_acq_rel) != 1;
}

void Sleep::wake() {
  if (woken_.exchange(true, std::memory_order_acq_rel)) return;
  SuspendedTask task = task_;
  if (steps_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) task.schedule();
}

void Sleep::await_resume() {
  timer_.reset();
  cancel_callback_.reset();
  if (task_.context != nullptr) task_.context->token.throw_if_cancelled();
}

}  // namespace pistachio
