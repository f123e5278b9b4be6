// Numbers texts, so that they can be compared and stored as integers: equal texts have equal numbers; NULL has one too. The entries of a
// dictionary are looked up once. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "exec/operators/group_table.h"

namespace pistachio {

class TextInterner {
 public:
  explicit TextInterner(LogicalType type);

  // int64 [rows]
  at::Tensor numbers_of(const Column& texts, const CancelToken& token);
  // The texts of numbers that numbers_of returned.
  Column texts_of(const at::Tensor& numbers);
  int64_t memory_bytes();

 private:
  struct Known {
    std::weak_ptr<const Column> dictionary;  // detects an address that was reused
    at::Tensor numbers;                      // of its entries
  };

  const at::Tensor& numbers_of_entries(const std::shared_ptr<const Column>& dictionary, const CancelToken& token);

  std::mutex mutex_;
  // Guarded by mutex_.
  GroupTable texts_;
  std::map<const Column*, Known> known_;
  int64_t known_bytes_ = 0;
};

}  // namespace pistachio
