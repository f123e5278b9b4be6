// Random calls of the decoding operations: valid streams cut into random pages with random skip and take, and the same streams damaged.
#include <cstring>
#include <limits>

#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/byte_stream_split_decode.h"
#include "kernels/ops/definition_levels_decode.h"
#include "kernels/ops/delta_binary_decode.h"
#include "kernels/ops/delta_text_expand.h"
#include "kernels/ops/fixed_bytes_conversion.h"
#include "kernels/ops/plain_boolean_decode.h"
#include "kernels/ops/plain_decode.h"
#include "kernels/ops/plain_fixed_bytes_decode.h"
#include "kernels/ops/plain_text_decode.h"
#include "kernels/ops/rle_decode.h"
#include "kernels/ops/snappy_decompress.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::kernel_cases {

namespace {

using test_streams::append_varint;
using test_streams::Bytes;
using test_streams::Random;
using test_streams::uniform;

// One page: its bytes, the page table's columns between `end` and `skip`, and its number of values.
struct Page {
  Bytes bytes;
  std::vector<int64_t> columns;
  int64_t values = 0;
};

using DrawPage = std::function<Page(Draw&, int64_t rows)>;

void damage(Random& random, Bytes& bytes) {
  if (bytes.empty()) return;
  switch (uniform(random, 0, 3)) {
    case 0: bytes.resize(static_cast<size_t>(uniform(random, 0, static_cast<int64_t>(bytes.size()) - 1))); break;
    case 1:
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      break;
    default:
      for (int64_t i = uniform(random, 1, 4); i > 0; --i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
  }
}

struct Table {
  at::Tensor bytes;
  at::Tensor pages;
};

Table draw_table(Draw& draw, const DrawPage& draw_page, bool damaged) {
  Bytes all;
  std::vector<int64_t> cells;
  const int64_t count = draw.rows == 0 ? uniform(draw.random, 0, 2) : uniform(draw.random, 1, 3);
  int64_t width = 0;
  for (int64_t i = 0; i < count; ++i) {
    Page page = draw_page(draw, draw.rows / count + uniform(draw.random, 0, draw.rows == 0 ? 0 : 8));
    if (damaged) damage(draw.random, page.bytes);
    for (int64_t gap = uniform(draw.random, 0, 2); gap > 0; --gap) all.push_back(static_cast<uint8_t>(draw.random()));
    int64_t skip = uniform(draw.random, 0, 2) == 0 ? uniform(draw.random, 0, page.values) : 0;
    int64_t take = uniform(draw.random, 0, 2) == 0 ? uniform(draw.random, 0, page.values - skip) : page.values - skip;
    if (damaged && uniform(draw.random, 0, 3) == 0) take += uniform(draw.random, 0, 20);
    cells.push_back(static_cast<int64_t>(all.size()));
    all.insert(all.end(), page.bytes.begin(), page.bytes.end());
    cells.push_back(static_cast<int64_t>(all.size()));
    cells.insert(cells.end(), page.columns.begin(), page.columns.end());
    cells.push_back(skip);
    cells.push_back(take);
    width = static_cast<int64_t>(page.columns.size()) + 4;
  }
  at::Tensor pages = count == 0 ? at::Tensor() : at::tensor(cells, at::kLong).view({count, width});
  return {bytes_tensor(draw, all), pages};
}

using CallOnTable = std::function<std::vector<at::Tensor>(const Table&)>;

// Builds an operation from a function that draws a page and one that calls it on a page table.
Operation page_operation(std::string name, const std::function<CallOnTable(Draw&, DrawPage&)>& make) {
  const auto draw_call = [make](bool damaged) {
    return [make, damaged](Draw& draw) -> Call {
      DrawPage draw_page;
      auto call = make(draw, draw_page);
      const Table table = draw_table(draw, draw_page, damaged);
      return [call, table] { return call(table); };
    };
  };
  return {std::move(name), draw_call(false), draw_call(true)};
}

// Random values below 2^width with runs of equal ones.
std::vector<uint32_t> draw_codes(Random& random, int64_t rows, int64_t width, uint64_t limit) {
  std::vector<uint32_t> codes;
  const int64_t kind = uniform(random, 0, 3);
  const bool stretches = kind <= 1, short_runs = kind == 2;
  while (static_cast<int64_t>(codes.size()) < rows) {
    const uint32_t code = static_cast<uint32_t>(width == 0 ? 0 : random() % limit);
    int64_t repeat = stretches && uniform(random, 0, 20) == 0 ? uniform(random, 1, 200) : short_runs ? uniform(random, 6, 20) : 1;
    for (; repeat > 0 && static_cast<int64_t>(codes.size()) < rows; --repeat) codes.push_back(code);
  }
  return codes;
}

test_streams::RleOptions draw_rle_options(Random& random) {
  test_streams::RleOptions options;
  options.min_repeat = uniform(random, 0, 2) == 0 ? uniform(random, 1, 20) : 8;
  options.max_groups = uniform(random, 0, 2) == 0 ? 100000 : uniform(random, 1, 63);
  options.cut = uniform(random, 0, 1) == 0;
  options.drop_padding = uniform(random, 0, 2) == 0;
  return options;
}

Operation rle_operation() {
  return page_operation("rle_decode", [](Draw& draw, DrawPage& draw_page) {
    const int64_t width = uniform(draw.random, 0, 32);
    draw_page = [width](Draw& page_draw, int64_t rows) -> Page {
      Random& random = page_draw.random;
      uint64_t limit = uint64_t{1} << width;
      bool checked = false;
      if (width > 0 && uniform(random, 0, 1) == 0) {
        checked = true;
        limit = std::min<uint64_t>(uint64_t{1} << 31, static_cast<uint64_t>(uniform(random, 1, static_cast<int64_t>(limit))));
      }
      const std::vector<uint32_t> codes = draw_codes(random, rows, width, limit);
      // Occasionally the limit is one too low for the largest code.
      const int64_t slack = uniform(random, 0, 9) == 0 && limit > 1 ? 1 : 0;
      return {test_streams::encode_rle(codes, width, random, draw_rle_options(random)),
              {width, checked ? static_cast<int64_t>(limit) - slack : 0, limit < uint64_t{1} << 30 ? uniform(random, 0, 3) * 1000 : 0},
              rows};
    };
    return [](const Table& table) -> std::vector<at::Tensor> { return {rle_decode(table.bytes, table.pages)}; };
  });
}

// A random Snappy block that yields about `bytes` bytes: literals of all length forms, copies of all offset forms, near and overlapping ones
// included.
struct Block {
  Bytes bytes;
  int64_t size = 0;
};

void append_literal(Bytes& out, int64_t length, Random& random) {
  // The length itself, or 1 to 4 bytes of it after the tag; longer forms than needed are allowed.
  int64_t length_bytes = length <= 60 ? 0 : length <= 256 ? 1 : length <= 65536 ? 2 : 3;
  if (uniform(random, 0, 9) == 0) length_bytes = uniform(random, std::max<int64_t>(length_bytes, 1), 4);
  out.push_back(static_cast<uint8_t>((length_bytes == 0 ? length - 1 : 59 + length_bytes) << 2));
  for (int64_t byte = 0; byte < length_bytes; ++byte) out.push_back(static_cast<uint8_t>((length - 1) >> (8 * byte)));
  for (int64_t i = 0; i < length; ++i) out.push_back(static_cast<uint8_t>(random()));
}

void append_copy(Bytes& out, int64_t offset, int64_t length, Random& random) {
  int64_t kind = offset < 2048 && length >= 4 && length <= 11 && uniform(random, 0, 3) > 0 ? 1 : offset < 65536 ? 2 : 3;
  if (kind == 2 && uniform(random, 0, 9) == 0) kind = 3;
  out.push_back(static_cast<uint8_t>(kind == 1 ? 1 | (length - 4) << 2 | (offset >> 8) << 5 : kind | (length - 1) << 2));
  for (int64_t byte = 0; byte < (kind == 3 ? 4 : kind); ++byte) out.push_back(static_cast<uint8_t>(offset >> (8 * byte)));
}

Block draw_block(Random& random, int64_t bytes) {
  Bytes elements;
  int64_t size = 0;
  const int64_t copies = uniform(random, 0, 10);  // in ten
  // Most writers compress fragments of 64 KB independently.
  const int64_t fragment_bytes = uniform(random, 0, 2) > 0 ? 65536 : std::max<int64_t>(bytes, 1);
  const int64_t long_literals = uniform(random, 0, 1) == 0 ? 30 : 3000;  // one literal in this many is long
  while (size < bytes) {
    const int64_t begin = size / fragment_bytes * fragment_bytes, end = std::min(bytes, begin + fragment_bytes);
    if (size == begin || uniform(random, 1, 10) > copies) {
      const int64_t longest = uniform(random, 0, long_literals) == 0 ? 70000 : uniform(random, 0, 5) == 0 ? 300 : 70;
      const int64_t length = std::min(end - size, uniform(random, 1, longest));
      append_literal(elements, length, random);
      size += length;
    } else {
      const int64_t farthest = uniform(random, 0, 1) == 0 ? std::min<int64_t>(size - begin, 70) : size - begin;
      const int64_t length = std::min<int64_t>(end - size, uniform(random, 1, 64));
      append_copy(elements, uniform(random, 1, farthest), length, random);
      size += length;
    }
  }
  Block block{{}, size};
  append_varint(block.bytes, static_cast<uint64_t>(size));
  block.bytes.insert(block.bytes.end(), elements.begin(), elements.end());
  return block;
}

Operation snappy_operation() {
  const auto draw_call = [](bool damaged) {
    return [damaged](Draw& draw) -> Call {
      Random& random = draw.random;
      Bytes all;
      std::vector<int64_t> cells;
      const int64_t pages = draw.rows == 0 ? uniform(random, 0, 1) : uniform(random, 1, 5);
      for (int64_t page = 0; page < pages; ++page) {
        Block block = draw_block(random, draw.rows / pages * (uniform(random, 0, 3) == 0 ? 8 : 1));
        if (damaged && uniform(random, 0, 1) == 0) damage(random, block.bytes);
        if (damaged && uniform(random, 0, 9) == 0) block.size = std::max<int64_t>(0, block.size + uniform(random, -5, 5));
        const int64_t plain = uniform(random, 0, 2) == 0 ? uniform(random, 0, 40) : 0;
        const bool only_plain = plain > 0 && uniform(random, 0, 3) == 0;
        for (int64_t gap = uniform(random, 0, 17); gap > 0; --gap) all.push_back(static_cast<uint8_t>(random()));
        cells.push_back(static_cast<int64_t>(all.size()));
        for (int64_t i = 0; i < plain; ++i) all.push_back(static_cast<uint8_t>(random()));
        if (!only_plain) all.insert(all.end(), block.bytes.begin(), block.bytes.end());
        cells.push_back(static_cast<int64_t>(all.size()));
        cells.push_back(plain);
        cells.push_back(plain + (only_plain ? 0 : block.size));
      }
      const at::Tensor table = pages == 0 ? at::Tensor() : at::tensor(cells, at::kLong).view({pages, 4});
      const at::Tensor bytes = bytes_tensor(draw, all);
      return [=]() -> std::vector<at::Tensor> {
        auto [out, first_damaged] = snappy_decompress(bytes, table);
        // The contents of damaged pages are undefined.
        if (first_damaged.item<int64_t>() != 0) return {first_damaged};
        return {out, first_damaged};
      };
    };
  };
  return {"snappy_decompress", draw_call(false), draw_call(true)};
}

Operation definition_levels_operation() {
  return page_operation("definition_levels_decode", [](Draw& draw, DrawPage& draw_page) {
    const int64_t max_level = uniform(draw.random, 0, 1) == 0 ? 1 : uniform(draw.random, 0, 9);
    draw_page = [max_level](Draw& page_draw, int64_t rows) -> Page {
      Random& random = page_draw.random;
      std::vector<uint32_t> levels = draw_codes(random, rows, max_level == 0 ? 0 : 8, static_cast<uint64_t>(max_level) + 1);
      if (uniform(random, 0, 3) == 0) std::fill(levels.begin(), levels.end(), static_cast<uint32_t>(uniform(random, 0, max_level)));
      int64_t width = 0;
      while ((int64_t{1} << width) <= max_level) ++width;
      return {test_streams::encode_rle(levels, width, random, draw_rle_options(random)), {max_level}, rows};
    };
    return [](const Table& table) -> std::vector<at::Tensor> {
      auto [validity, counts] = definition_levels_decode(table.bytes, table.pages);
      return {validity, counts};
    };
  });
}

DrawPage random_bytes_page(int64_t bits_per_value) {
  return [bits_per_value](Draw& draw, int64_t rows) -> Page {
    Bytes bytes(static_cast<size_t>((rows * bits_per_value + 7) / 8 + uniform(draw.random, 0, 3)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draw.random());
    return {bytes, {}, rows};
  };
}

Operation plain_operation() {
  return page_operation("plain_decode", [](Draw& draw, DrawPage& draw_page) {
    const at::ScalarType types[] = {at::kInt, at::kLong, at::kFloat, at::kDouble};
    const at::ScalarType type = types[draw.random() % 4];
    draw_page = random_bytes_page(8 * static_cast<int64_t>(c10::elementSize(type)));
    // Random bits may be NaN: compare as integers.
    return [type](const Table& table) -> std::vector<at::Tensor> {
      const at::Tensor values = plain_decode(table.bytes, table.pages, type);
      return {at::tensor(static_cast<int>(values.scalar_type())), values.view(values.element_size() == 4 ? at::kInt : at::kLong)};
    };
  });
}

Operation plain_boolean_operation() {
  return page_operation("plain_boolean_decode", [](Draw&, DrawPage& draw_page) {
    draw_page = random_bytes_page(1);
    return [](const Table& table) -> std::vector<at::Tensor> { return {plain_boolean_decode(table.bytes, table.pages)}; };
  });
}

Operation plain_fixed_bytes_operation() {
  return page_operation("plain_fixed_bytes_decode", [](Draw& draw, DrawPage& draw_page) {
    const int64_t width = uniform(draw.random, 1, 20);
    draw_page = random_bytes_page(8 * width);
    return [width](const Table& table) -> std::vector<at::Tensor> { return {plain_fixed_bytes_decode(table.bytes, table.pages, width)}; };
  });
}

Operation byte_stream_split_operation() {
  return page_operation("byte_stream_split_decode", [](Draw& draw, DrawPage& draw_page) {
    const int64_t widths[] = {2, 4, 8, 1, 3, 12, 16};
    const int64_t width = widths[draw.random() % 7];
    draw_page = [width](Draw& page_draw, int64_t rows) {
      Page page = random_bytes_page(8 * width)(page_draw, rows);
      page.columns = {rows};
      return page;
    };
    return [width](const Table& table) -> std::vector<at::Tensor> { return {byte_stream_split_decode(table.bytes, table.pages, width)}; };
  });
}

Operation plain_text_operation() {
  return page_operation("plain_text_decode", [](Draw&, DrawPage& draw_page) {
    draw_page = [](Draw& draw, int64_t rows) -> Page {
      std::vector<std::string> values;
      for (int64_t i = 0; i < rows; ++i) values.emplace_back(static_cast<size_t>(uniform(draw.random, 0, i % 50 == 0 ? 300 : 12)), 'x');
      return {test_streams::encode_text(values), {}, rows};
    };
    return [](const Table& table) -> std::vector<at::Tensor> {
      auto [begins, ends] = plain_text_decode(table.bytes, table.pages);
      return {begins, ends};
    };
  });
}

std::vector<int64_t> draw_delta_values(Random& random, int64_t rows, bool is_32_bit) {
  std::vector<int64_t> values;
  uint64_t value = random();
  const uint64_t bits = static_cast<uint64_t>(uniform(random, 0, 64));
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (int64_t i = 0; i < rows; ++i) {
    values.push_back(is_32_bit ? static_cast<int32_t>(static_cast<uint32_t>(value)) : static_cast<int64_t>(value));
    value += (random() & mask) - (mask >> 1);
  }
  return values;
}

Operation delta_binary_operation() {
  return page_operation("delta_binary_decode", [](Draw& draw, DrawPage& draw_page) {
    const bool is_32_bit = uniform(draw.random, 0, 1) == 0;
    draw_page = [is_32_bit](Draw& page_draw, int64_t rows) -> Page {
      Random& random = page_draw.random;
      const std::pair<int64_t, int64_t> sizes[] = {{128, 4}, {128, 1}, {256, 8}, {1024, 2}, {4096, 4}};
      const auto [block_size, miniblocks] = sizes[random() % 5];
      const std::vector<int64_t> values = draw_delta_values(random, rows, is_32_bit);
      return {test_streams::encode_delta(values, block_size, miniblocks, is_32_bit, random), {rows}, rows};
    };
    return [is_32_bit](const Table& table) -> std::vector<at::Tensor> {
      auto [values, ends] = delta_binary_decode(table.bytes, table.pages, is_32_bit);
      return {values, ends};
    };
  });
}

Call draw_delta_text(Draw& draw, bool damaged) {
  Random& random = draw.random;
  std::vector<int64_t> prefixes, begins, ends;
  int64_t previous = 0, position = 0;
  for (int64_t i = 0; i < draw.rows; ++i) {
    const int64_t prefix = uniform(random, 0, std::min<int64_t>(previous, 40)), suffix = uniform(random, 0, 9);
    prefixes.push_back(prefix);
    begins.push_back(position);
    position += suffix;
    ends.push_back(position);
    previous = prefix + suffix;
  }
  Bytes bytes(static_cast<size_t>(position));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  int64_t most = int64_t{1} << 40;
  if (damaged && draw.rows > 0) {
    std::vector<int64_t>& victim = uniform(random, 0, 2) == 0 ? prefixes : uniform(random, 0, 1) == 0 ? begins : ends;
    const int64_t odd[] = {-1, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), 1000, position + 1};
    if (uniform(random, 0, 3) == 0) {
      most = uniform(random, 0, 100);
    } else {
      victim[random() % victim.size()] = odd[random() % 5];
    }
  }
  const at::Tensor data = bytes_tensor(draw, bytes), prefix = disguise(draw, at::tensor(prefixes, at::kLong)),
                   from = disguise(draw, at::tensor(begins, at::kLong)), to = disguise(draw, at::tensor(ends, at::kLong));
  return [=]() -> std::vector<at::Tensor> {
    auto [expanded, out_begins, out_ends] = delta_text_expand(data, prefix, from, to, most);
    return {expanded, out_begins, out_ends};
  };
}

at::Tensor random_rows(Draw& draw, int64_t width) {
  Bytes bytes(static_cast<size_t>(draw.rows * width));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(draw.random());
  at::Tensor rows = at::empty({draw.rows, width}, at::kByte);
  std::copy(bytes.begin(), bytes.end(), rows.mutable_data_ptr<uint8_t>());
  return rows;
}

Call draw_decimal(Draw& draw, bool damaged) {
  const int64_t width = uniform(draw.random, 1, 20);
  const bool wide = uniform(draw.random, 0, 1) == 0;
  at::Tensor rows = random_rows(draw, width);
  const int64_t extra = width - (wide ? 16 : 8);
  if (extra > 0) {  // the leading bytes are sign extension
    rows.slice(1, 0, extra).copy_(rows.slice(1, extra, extra + 1).ge(128).to(at::kByte).mul(255).expand({draw.rows, extra}));
    if (damaged && draw.rows > 0) rows[uniform(draw.random, 0, draw.rows - 1)][uniform(draw.random, 0, extra - 1)].fill_(7);
  }
  rows = disguise(draw, rows);
  return [=]() -> std::vector<at::Tensor> { return {decimal_from_bytes(rows, wide)}; };
}

// Random times of day, impossible ones too, on random days including the ends of the range.
Call draw_int96(Draw& draw, bool damaged) {
  constexpr int64_t day_of_1970 = 2440588, last_day = 106751991, nanos_of_a_day = 86400000000000;
  constexpr int64_t last_nanos = INT64_MAX % 86400000000 * 1000 + 999;
  at::Tensor rows = random_rows(draw, 12);
  for (int64_t i = 0; i < draw.rows; ++i) {
    uint8_t* row = rows.mutable_data_ptr<uint8_t>() + i * 12;
    int64_t day = uniform(draw.random, -100'000'000, 100'000'000), nanos = static_cast<int64_t>(draw.random());
    const bool at_an_end = uniform(draw.random, 0, 3) == 0, first = uniform(draw.random, 0, 1) == 0;
    if (at_an_end) {
      day = first ? -last_day - 1 : last_day;
      nanos = first ? nanos_of_a_day - last_nanos - 1 : last_nanos;
      if (damaged && uniform(draw.random, 0, 9) == 0) nanos += first ? -1 : 1;
    } else if (damaged && uniform(draw.random, 0, 99) == 0) {
      day = uniform(draw.random, INT32_MIN, INT32_MAX) - day_of_1970;
    }
    const int32_t julian = static_cast<int32_t>(day + day_of_1970);
    std::memcpy(row, &nanos, 8);
    std::memcpy(row + 8, &julian, 4);
  }
  rows = disguise(draw, rows);
  return [=]() -> std::vector<at::Tensor> { return {int96_to_micros(rows)}; };
}

}  // namespace

std::vector<Operation> decode_operations() {
  return {rle_operation(),
          snappy_operation(),
          definition_levels_operation(),
          plain_operation(),
          plain_boolean_operation(),
          plain_fixed_bytes_operation(),
          byte_stream_split_operation(),
          plain_text_operation(),
          delta_binary_operation(),
          {"delta_text_expand", [](Draw& draw) { return draw_delta_text(draw, false); },
           [](Draw& draw) { return draw_delta_text(draw, true); }},
          {"decimal_from_bytes", [](Draw& draw) { return draw_decimal(draw, false); }, [](Draw& draw) { return draw_decimal(draw, true); }},
          {"int96_to_micros", [](Draw& draw) { return draw_int96(draw, false); }, [](Draw& draw) { return draw_int96(draw, true); }},
          {"float16_to_float",
           [](Draw& draw) -> Call {
             const at::Tensor rows = disguise(draw, random_rows(draw, 2));
             return [=]() -> std::vector<at::Tensor> { return {float16_to_float(rows)}; };
           },
           {}}};
}

}  // namespace pistachio::kernels::kernel_cases
