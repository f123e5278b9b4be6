// The constants of an expression as columns of one row on a GPU, kept for later chunks: making one takes several kernel launches. Belongs
// to one evaluator. Thread-safe. Memory: a few bytes and the text of each constant.
#pragma once

#include <c10/core/Stream.h>

#include <map>
#include <mutex>
#include <utility>

#include "expr/function.h"

namespace pistachio {

class Expression;

class ConstantArguments {
 public:
  // `make` makes the argument of a constant on the given stream, which is the only one that uses it.
  template <typename Make>
  Argument find(const Expression& constant, const c10::Stream& stream, const Make& make) {
    std::lock_guard lock(mutex_);
    const auto key = std::pair(&constant, stream.id());
    auto found = made_.find(key);
    if (found == made_.end()) found = made_.emplace(key, make()).first;
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Expression*, c10::StreamId>, Argument> made_;  // guarded by mutex_
};

}  // namespace pistachio
