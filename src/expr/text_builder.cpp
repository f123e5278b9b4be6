#include "expr/text_builder.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "base/check.h"

namespace pistachio {

TextBuilder::TextBuilder(int64_t rows, int64_t bytes)
    : bytes_(at::empty({std::max<int64_t>(bytes, 16)}, at::kByte)),
      begins_(at::empty({rows}, at::kLong)),
      ends_(at::empty({rows}, at::kLong)),
      data_(reinterpret_cast<char*>(bytes_.mutable_data_ptr<uint8_t>())),
      begins_data_(begins_.mutable_data_ptr<int64_t>()),
      ends_data_(ends_.mutable_data_ptr<int64_t>()),
      capacity_(bytes_.numel()) {}

void TextBuilder::grow(int64_t bytes) {
  at::Tensor larger = at::empty({std::max(bytes, capacity_ * 2)}, at::kByte);
  char* data = reinterpret_cast<char*>(larger.mutable_data_ptr<uint8_t>());
  std::memcpy(data, data_, static_cast<size_t>(size_));
  bytes_ = std::move(larger);
  data_ = data;
  capacity_ = bytes_.numel();
}

Column TextBuilder::finish(LogicalType type) {
  ENSURE_EQ(row_, ends_.numel());
  return Column::text(type, bytes_.narrow(0, 0, size_), std::move(begins_), std::move(ends_));
}

}  // namespace pistachio
