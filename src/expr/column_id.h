// Column ids of a plan, and sets of them. A set is a sorted vector: plans of wide tables and of long chains of joins create, copy and unite
// many sets, and rarely insert in the middle. Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace pistachio {

// A column of some plan node, unique in its query.
struct ColumnId {
  int32_t value = -1;
  auto operator<=>(const ColumnId&) const = default;
};

class ColumnSet {
 public:
  using value_type = ColumnId;
  using const_iterator = std::vector<ColumnId>::const_iterator;

  ColumnSet() = default;
  ColumnSet(std::initializer_list<ColumnId> ids) : ColumnSet(ids.begin(), ids.end()) {}
  template <typename Iterator>
  ColumnSet(Iterator first, Iterator last) : ids_(first, last) {
    if (!std::is_sorted(ids_.begin(), ids_.end())) std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }

  const_iterator begin() const { return ids_.begin(); }
  const_iterator end() const { return ids_.end(); }
  bool empty() const { return ids_.empty(); }
  size_t size() const { return ids_.size(); }
  bool contains(ColumnId id) const { return std::binary_search(ids_.begin(), ids_.end(), id); }
  bool operator==(const ColumnSet&) const = default;

  // False if it was already there.
  bool insert(ColumnId id) {
    if (ids_.empty() || ids_.back() < id) {
      ids_.push_back(id);
      return true;
    }
    auto place = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (*place == id) return false;
    ids_.insert(place, id);
    return true;
  }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    insert(ColumnSet(first, last));
  }
  void insert(const ColumnSet& other) {
    if (other.empty()) return;
    if (ids_.empty() || ids_.back() < other.ids_.front()) {
      ids_.insert(ids_.end(), other.begin(), other.end());
      return;
    }
    std::vector<ColumnId> both;
    both.reserve(ids_.size() + other.size());
    std::set_union(begin(), end(), other.begin(), other.end(), std::back_inserter(both));
    ids_ = std::move(both);
  }
  void erase(const ColumnSet& other) {
    if (empty() || other.empty()) return;
    std::vector<ColumnId> rest;
    std::set_difference(begin(), end(), other.begin(), other.end(), std::back_inserter(rest));
    ids_ = std::move(rest);
  }
  void clear() { ids_.clear(); }

 private:
  std::vector<ColumnId> ids_;
};

}  // namespace pistachio
