#include "expr/text_builder.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

TextBuilder::TextBuilder(int64_t rows, int64_t bytes, const CancelToken* token)
    : bytes_(at::empty({std::max<int64_t>(bytes, 16)}, at::kByte)),
      begins_(at::empty({rows}, at::kLong)),
      ends_(at::empty({rows}, at::kLong)),
      data_(reinterpret_cast<char*>(bytes_.mutable_data_ptr<uint8_t>())),
      begins_data_(begins_.mutable_data_ptr<int64_t>()),
      ends_data_(ends_.mutable_data_ptr<int64_t>()),
      capacity_(bytes_.numel()),
      limit_(std::min(capacity_, kBytesPerPoll)),
      token_(token) {}

void TextBuilder::append_in_blocks(std::string_view text) {
  make_room(size_ + static_cast<int64_t>(text.size()));
  WorkPoll poll(token_);
  for_each_block(text, poll, [&](std::string_view block) {
    char* to = reserve(static_cast<int64_t>(block.size()));
    if (!block.empty()) std::memcpy(to, block.data(), block.size());
    size_ += static_cast<int64_t>(block.size());
  });
}

void TextBuilder::append_repeated(std::string_view text, int64_t times) {
  if (text.empty() || times <= 0) return;
  const int64_t unit = static_cast<int64_t>(text.size());
  const int64_t begin = size_, end = begin + unit * times;
  make_room(end);
  append(text);
  // Doubles what is there already, from one copy up to a block of copies.
  const int64_t most = std::max(kBytesPerPoll / unit * unit, unit);
  while (size_ < end) append(std::string_view(data_ + begin, static_cast<size_t>(std::min({size_ - begin, most, end - size_}))));
}

void TextBuilder::extend(int64_t bytes) {
  if (token_ != nullptr) stop_if_cancelled(*token_);
  make_room(bytes);
  limit_ = std::min(capacity_, std::max(bytes, size_ + kBytesPerPoll));
}

void TextBuilder::make_room(int64_t bytes) {
  if (bytes <= capacity_) return;
  at::Tensor larger = at::empty({std::max(bytes, capacity_ * 2)}, at::kByte);
  char* to = reinterpret_cast<char*>(larger.mutable_data_ptr<uint8_t>());
  WorkPoll poll(token_);
  for_each_block({data_, static_cast<size_t>(size_)}, poll, [&](std::string_view block) {
    std::memcpy(to, block.data(), block.size());
    to += block.size();
  });
  bytes_ = std::move(larger);
  data_ = reinterpret_cast<char*>(bytes_.mutable_data_ptr<uint8_t>());
  capacity_ = bytes_.numel();
}

Column TextBuilder::finish(LogicalType type) {
  ENSURE_EQ(row_, ends_.numel());
  return Column::text(type, bytes_.narrow(0, 0, size_), std::move(begins_), std::move(ends_));
}

}  // namespace pistachio
