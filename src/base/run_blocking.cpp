#include "base/run_blocking.h"

#include "base/scheduler.h"

namespace pistachio {

bool BlockingCallBase::await_suspend(SuspendedTask task) {
  task_ = task;
  cancel_callback_.emplace(task.context->token, [this] { on_cancel(); });
  // Once submitted the call may end and the task move on at any moment: nothing of this object may be touched any more.
  if (task.context->scheduler->blocking_pool().submit(*this)) return true;
  removed_ = true;
  return false;
}

void BlockingCallBase::on_cancel() {
  if (!task_.context->scheduler->blocking_pool().refuse(*this)) return;
  removed_ = true;
  SuspendedTask task = task_;
  task.schedule();
}

void BlockingCallBase::run_job() noexcept {
  // A token tells its callbacks one after the other: this call may leave the queue for a thread before its own turn to be refused comes.
  removed_ = task_.context->token.is_cancelled();
  if (!removed_) call();
  SuspendedTask task = task_;
  task.schedule();
}

void BlockingCallBase::finish_wait() {
  cancel_callback_.reset();
  if (removed_) task_.context->token.throw_if_cancelled();
}

}  // namespace pistachio
