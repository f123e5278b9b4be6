#include "base/run_blocking.h"

#include "base/scheduler.h"

namespace pistachio {

bool BlockingCallBase::await_suspend(SuspendedTask task) {
  task_ = task;
  cancel_callback_.emplace(task.context->token, [this] { on_cancel(); });
  // Once submitted, the call may end and the task resume at any moment: do not touch this object any more.
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
  // A token runs its callbacks one after the other: a thread may take this call from the queue before its callback refuses it.
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
