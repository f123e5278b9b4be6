// Base of all coroutine promises: the context inherited from the awaiting parent, and await_transform, which makes every co_await
// a cancellation point and passes the context on. An awaitable has bool await_ready(), bool await_suspend(SuspendedTask) and
// await_resume(); it does not move while the task waits in it, so others may keep its address. Cancelled tasks still await those marked
// with `using AwaitedWhenCancelled = void` (joins, which must not leave children behind).
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include "base/task_context.h"

namespace pistachio {

// GCC 12 copies or moves an awaiter that await_transform returns by reference; this thin pointer may be copied, the awaitable may not.
template <typename Awaitable>
class AwaitInPlace {
 public:
  AwaitInPlace(Awaitable& awaitable, const TaskContext* context) : awaitable_(&awaitable), context_(context) {}
  bool await_ready() { return awaitable_->await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) { return awaitable_->await_suspend(SuspendedTask{context_, handle}); }
  decltype(auto) await_resume() { return awaitable_->await_resume(); }

 private:
  Awaitable* awaitable_;
  const TaskContext* context_;
};

class TaskPromiseBase {
 public:
  void set_context(const TaskContext* context) { context_ = context; }

  template <typename Awaitable>
  auto await_transform(Awaitable&& awaitable) {
    using Plain = std::remove_reference_t<Awaitable>;
    if constexpr (!requires { typename Plain::AwaitedWhenCancelled; }) context_->token.throw_if_cancelled();
    if constexpr (requires { awaitable.await_as_child(context_); }) {
      return awaitable.await_as_child(context_);
    } else {
      return AwaitInPlace<Plain>(awaitable, context_);
    }
  }

 private:
  const TaskContext* context_ = nullptr;
};

}  // namespace pistachio
