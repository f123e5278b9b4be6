// Results of functions for all entries of a dictionary, kept for later chunks with codes of the same dictionary. Belongs to one evaluator.
// Thread-safe. Memory: fixed-width results of up to 16 dictionaries that are still alive, and larger themselves.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "data/column.h"

namespace pistachio {

class Expression;

class EntryResults {
 public:
  // The results for the entries, one row each, if they are known or worth computing: once half as many rows as entries have come, these
  // included.
  template <typename Compute>
  std::optional<Column> find(const Expression& expression, const std::shared_ptr<const Column>& dictionary, int64_t rows,
                             const Compute& compute) {
    {
      std::lock_guard lock(mutex_);
      Known& known = place_of(expression, dictionary);
      if (known.result) return known.result;
      known.rows += rows;
      if (known.rows < dictionary->rows() / 2) return std::nullopt;
    }
    Column result = compute(*dictionary);
    std::lock_guard lock(mutex_);
    place_of(expression, dictionary).result = result;
    return result;
  }

 private:
  struct Known {
    const Expression* expression = nullptr;
    std::weak_ptr<const Column> dictionary;
    int64_t rows = 0;  // that came so far
    std::optional<Column> result;
  };
  static constexpr size_t kMaxKnown = 16;

  Known& place_of(const Expression& expression, const std::shared_ptr<const Column>& dictionary) {
    auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
      return known.expression == &expression && known.dictionary.lock() == dictionary;
    });
    if (found != known_.end()) return *found;
    std::erase_if(known_, [](const Known& known) { return known.dictionary.expired(); });
    if (known_.size() == kMaxKnown) known_.erase(known_.begin());
    return known_.emplace_back(Known{&expression, dictionary, 0, std::nullopt});
  }

  std::mutex mutex_;
  std::vector<Known> known_;  // guarded by mutex_; the oldest first
};

}  // namespace pistachio
