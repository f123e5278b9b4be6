// A column: logical type + tensors, in one of three forms:
//   plain fixed-width   values[rows] (or [rows, 2] for wide types)
//   plain text          bytes + begins[rows] + ends[rows]: value i is bytes[begins[i], ends[i]). Filtering or gathering text moves only
//                       begins and ends; the bytes are shared and may include bytes of no value.
//   dictionary          codes[rows] (int32) + a dictionary column, shared by the chunks of a row group
// Any form may have a validity tensor (bool, true = not NULL); without one there are no NULLs. The value under a NULL is arbitrary but
// valid (codes are inside the dictionary, begins <= ends), so kernels need not check validity before computing on it.
// Immutable after construction and cheap to copy (tensors are shared); safe to read from many threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "data/entry_hashes.h"
#include "data/logical_type.h"

namespace pistachio {

class Column {
 public:
  static Column fixed(LogicalType type, at::Tensor values, at::Tensor validity = {});
  static Column text(LogicalType type, at::Tensor bytes, at::Tensor begins, at::Tensor ends, at::Tensor validity = {});
  static Column dictionary(at::Tensor codes, std::shared_ptr<const Column> dictionary, at::Tensor validity = {});

  LogicalType type() const { return type_; }
  int64_t rows() const { return rows_; }
  // The device of all its tensors.
  at::Device device() const { return main_.device(); }
  bool is_dictionary() const { return dictionary_ != nullptr; }
  bool has_validity() const { return validity_.defined(); }

  // Plain fixed-width: the values.
  const at::Tensor& values() const;
  // Plain text.
  const at::Tensor& bytes() const;
  const at::Tensor& begins() const;
  const at::Tensor& ends() const;
  // Dictionary-coded.
  const at::Tensor& codes() const;
  const std::shared_ptr<const Column>& dictionary_column() const;
  // Undefined tensor when there are no NULLs.
  const at::Tensor& validity() const { return validity_; }

  // Rows [begin, begin + count) without copying.
  Column slice(int64_t begin, int64_t count) const;
  // Of a dictionary: the hashes of its entries.
  EntryHashes& entry_hashes() const { return entry_hashes_.get(); }
  // Bytes of this column's tensors, and of the hashes of its entries, without a shared dictionary.
  int64_t memory_bytes() const;

 private:
  Column(LogicalType type, int64_t rows) : type_(type), rows_(rows) {}

  LogicalType type_;
  int64_t rows_;
  at::Tensor main_;  // values, bytes or codes
  at::Tensor begins_;
  at::Tensor ends_;
  at::Tensor validity_;
  std::shared_ptr<const Column> dictionary_;
  EntryHashesSlot entry_hashes_;
};

}  // namespace pistachio
