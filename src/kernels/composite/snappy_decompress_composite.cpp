// Reference body of snappy_decompress: one element at a time, byte by byte, on the host.

#include <optional>
#include <vector>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

using Bytes = std::vector<uint8_t>;

class SnappyBlock {
 public:
  SnappyBlock(const uint8_t* begin, const uint8_t* end) : position_(begin), end_(end) {}

  // The block's `size` bytes; nullopt if it is malformed.
  std::optional<Bytes> decompress(int64_t size) {
    std::optional<uint64_t> stored = read_length();
    if (!stored || *stored != static_cast<uint64_t>(size)) return std::nullopt;
    Bytes out;
    while (position_ < end_) {
      if (!append_element(out) || static_cast<int64_t>(out.size()) > size) return std::nullopt;
    }
    if (static_cast<int64_t>(out.size()) != size) return std::nullopt;
    return out;
  }

 private:
  std::optional<uint64_t> read_length() {
    uint64_t length = 0;
    for (int shift = 0; shift <= 28; shift += 7) {
      if (position_ == end_) return std::nullopt;
      const uint8_t byte = *position_++;
      length |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return length;
    }
    return std::nullopt;
  }

  // Little-endian.
  std::optional<uint64_t> read_number(int bytes) {
    if (end_ - position_ < bytes) return std::nullopt;
    uint64_t number = 0;
    for (int byte = 0; byte < bytes; ++byte) number |= static_cast<uint64_t>(*position_++) << (8 * byte);
    return number;
  }

  bool append_element(Bytes& out) {
    const unsigned tag = *position_++;
    const unsigned kind = tag & 3;
    if (kind == 0) {
      uint64_t length = (tag >> 2) + 1;
      if (length > 60) {
        const std::optional<uint64_t> stored = read_number(static_cast<int>(length - 60));
        if (!stored) return false;
        length = *stored + 1;
      }
      if (static_cast<uint64_t>(end_ - position_) < length) return false;
      out.insert(out.end(), position_, position_ + length);
      position_ += length;
      return true;
    }
    const std::optional<uint64_t> stored = read_number(kind == 3 ? 4 : static_cast<int>(kind));
    if (!stored) return false;
    const uint64_t offset = kind == 1 ? *stored | (tag >> 5) << 8 : *stored;
    const unsigned length = kind == 1 ? 4 + (tag >> 2 & 7) : (tag >> 2) + 1;
    if (offset == 0 || offset > out.size()) return false;
    for (unsigned i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);
    return true;
  }

  const uint8_t* position_;
  const uint8_t* end_;
};

std::tuple<at::Tensor, at::Tensor> snappy_decompress(const at::Tensor& bytes, const at::Tensor& pages) {
  const at::Tensor host_bytes = bytes.cpu();
  const uint8_t* data = host_bytes.const_data_ptr<uint8_t>();
  Bytes all;
  int64_t first_damaged = 0;
  auto rows = pages.accessor<int64_t, 2>();
  for (int64_t page = 0; page < rows.size(0); ++page) {
    const int64_t begin = rows[page][0], end = rows[page][1], plain = rows[page][2], size = rows[page][3];
    const size_t target = all.size();
    all.insert(all.end(), data + begin, data + begin + plain);
    if (plain < end - begin || plain < size) {
      const std::optional<Bytes> block = SnappyBlock(data + begin + plain, data + end).decompress(size - plain);
      if (block) all.insert(all.end(), block->begin(), block->end());
      if (!block && first_damaged == 0) first_damaged = -1 - page;
    }
    all.resize(target + static_cast<size_t>(size));
  }
  return {at::tensor(all, at::kByte).to(bytes.device()), at::full({1}, first_damaged, at::kLong).to(bytes.device())};
}

}  // namespace

REGISTER_BODY(Composite, "snappy_decompress", snappy_decompress);

}  // namespace pistachio::kernels::composite
