#include "storage/value_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "columns/device_copy.h"
#include "kernels/ops/byte_stream_split_decode.h"
#include "kernels/ops/delta_binary_decode.h"
#include "kernels/ops/delta_text_expand.h"
#include "kernels/ops/plain_boolean_decode.h"
#include "kernels/ops/plain_decode.h"
#include "kernels/ops/plain_fixed_bytes_decode.h"
#include "kernels/ops/plain_text_decode.h"
#include "kernels/ops/rle_decode.h"
#include "kernels/ops/tensor_functions.h"
#include "storage/value_conversion.h"

namespace pistachio {

namespace {

// The page table that kernels take: int64, one row per page.
template <int Width, typename Fill>
at::Tensor page_table(const EncodedValues& values, Fill fill) {
  at::Tensor table = at::empty({static_cast<int64_t>(values.pages.size()), Width}, at::kLong);
  int64_t* row = table.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < values.pages.size(); ++i, row += Width) fill(values.pages[i], values.counts[i], row);
  return table;
}

at::Tensor simple_table(const EncodedValues& values) {
  return page_table<4>(values, [](const PreparedPage& page, int64_t count, int64_t* row) {
    row[0] = page.values_begin;
    row[1] = page.values_end;
    row[2] = 0;
    row[3] = count;
  });
}

at::Tensor counted_table(const EncodedValues& values) {
  return page_table<5>(values, [](const PreparedPage& page, int64_t count, int64_t* row) {
    row[0] = page.values_begin;
    row[1] = page.values_end;
    row[2] = count;
    row[3] = 0;
    row[4] = count;
  });
}

[[noreturn]] void refuse_encoding(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values,
                                  const DataLocation& where) {
  DataLocation place = where;
  if (!values.pages.empty()) place.offset = values.pages[0].file_offset;
  throw DataError(fmt::format("{} of {} values is not supported", encoding_name(encoding), physical_type_name(column.physical)), place);
}

int64_t total_count(const EncodedValues& values) {
  return std::accumulate(values.counts.begin(), values.counts.end(), int64_t{0});
}

// A page must not hold more values than its definition levels say, or values would end up in the wrong rows. Decoding itself detects pages
// with too few values.
[[noreturn]] void refuse_surplus(const PreparedPage& page, int64_t count, const DataLocation& where) {
  throw DataError(fmt::format("the page holds more than the {} values of its levels", count),
                  {where.file, where.row_group, where.column, page.file_offset});
}

// A dictionary page has no levels, and no code refers to surplus entries.
bool is_counted(const PreparedPage& page) {
  return page.header.kind != PageKind::Dictionary;
}

// `capacity_of(bytes)` is the number of values that fit; padding too short for a value is allowed.
template <typename CapacityOf>
void check_plain_counts(const EncodedValues& values, const DataLocation& where, const CapacityOf& capacity_of) {
  for (size_t i = 0; i < values.pages.size(); ++i) {
    const PreparedPage& page = values.pages[i];
    if (is_counted(page) && capacity_of(page.values_end - page.values_begin) > values.counts[i])
      refuse_surplus(page, values.counts[i], where);
  }
}

// BYTE_STREAM_SPLIT: if the length does not match the count, bytes of different values would be combined.
void check_split_counts(const EncodedValues& values, int64_t width, const DataLocation& where) {
  for (size_t i = 0; i < values.pages.size(); ++i) {
    const PreparedPage& page = values.pages[i];
    if (page.values_end - page.values_begin != values.counts[i] * width) {
      throw DataError(fmt::format("{} bytes of BYTE_STREAM_SPLIT for {} values of {} bytes", page.values_end - page.values_begin,
                                  values.counts[i], width),
                      {where.file, where.row_group, where.column, page.file_offset});
    }
  }
}

// Reads a varint and advances `position` past it. Nullopt if it is truncated.
std::optional<uint64_t> read_number(const uint8_t*& position, const uint8_t* end) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && position < end; shift += 7) {
    const uint8_t byte = *position++;
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// A delta stream starts with its block size, miniblocks per block and number of values.
void check_delta_count(std::span<const uint8_t> stream, const PreparedPage& page, int64_t count, const DataLocation& where) {
  const uint8_t* position = stream.data();
  const uint8_t* end = position + stream.size();
  for (int number = 0; number < 2; ++number) {
    if (!read_number(position, end)) return;
  }
  const std::optional<uint64_t> stored = read_number(position, end);
  if (is_counted(page) && stored && *stored > static_cast<uint64_t>(count)) refuse_surplus(page, count, where);
}

// RLE booleans: a length of four bytes, then one-bit runs.
at::Tensor decode_rle_booleans(const EncodedValues& values, const DataLocation& where) {
  at::Tensor table = page_table<7>(values, [&](const PreparedPage& page, int64_t count, int64_t* row) {
    uint32_t length = 0;
    int64_t room = page.values_end - page.values_begin;
    if (count > 0) {
      if (room >= 4) std::memcpy(&length, page.head.bytes().data(), 4);
      if (room < 4 || length > room - 4)
        throw DataError("RLE booleans are cut short", {where.file, where.row_group, where.column, page.file_offset});
    }
    row[0] = page.values_begin + (count > 0 ? 4 : 0);
    row[1] = row[0] + length;
    row[2] = 1;
    row[3] = 0;
    row[4] = 0;
    row[5] = 0;
    row[6] = count;
  });
  return kernels::rle_decode(*values.bytes, table).to(at::kBool);
}

at::Tensor fixed_bytes_as(const at::Tensor& rows, at::ScalarType type) {
  return rows.numel() == 0 ? at::empty({0}, rows.options().dtype(type)) : rows.view(type).squeeze(1);
}

struct TextPieces {
  at::Tensor bytes;
  at::Tensor begins;
  at::Tensor ends;
};

EncodedValues one_page(const EncodedValues& values, size_t index) {
  return {values.bytes, values.pages.subspan(index, 1), values.counts.subspan(index, 1)};
}

// Delta-packed lengths followed by all bytes. The lengths start at `begin`; returns begins and ends within `bytes`.
TextPieces decode_delta_lengths(const at::Tensor& bytes, const PreparedPage& page, int64_t begin, int64_t count,
                                const DataLocation& where) {
  const int64_t head_end = std::min(page.values_end, begin + static_cast<int64_t>(ValuesHead::kBytes));
  const at::Tensor head = copied_to(bytes.slice(0, begin, head_end), at::kCPU);
  check_delta_count({head.const_data_ptr<uint8_t>(), static_cast<size_t>(head.numel())}, page, count, where);
  at::Tensor table = at::tensor({begin, page.values_end, count, int64_t{0}, count}, at::kLong).view({1, 5});
  auto [lengths, stream_ends] = kernels::delta_binary_decode(bytes, table, true);
  at::Tensor ends = at::cumsum(lengths, 0).add_(stream_ends.item<int64_t>());
  at::Tensor begins = ends - lengths;
  if (count > 0 && (lengths.min().item<int64_t>() < 0 || ends[count - 1].item<int64_t>() > page.values_end)) {
    throw DataError("text lengths go past the end of the page", {where.file, where.row_group, where.column, page.file_offset});
  }
  return {bytes, begins, ends};
}

TextPieces decode_delta_text_page(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values,
                                  const DataLocation& where) {
  const PreparedPage& page = values.pages[0];
  int64_t count = values.counts[0];
  if (encoding == PageEncoding::DeltaLengthByteArray) return decode_delta_lengths(*values.bytes, page, page.values_begin, count, where);
  check_delta_count(page.head.bytes(), page, count, where);
  auto [prefixes, stream_ends] = kernels::delta_binary_decode(*values.bytes, counted_table(values), true);
  TextPieces suffixes = decode_delta_lengths(*values.bytes, page, stream_ends.item<int64_t>(), count, where);
  // Front coding can expand without bound. No sane writer exceeds this.
  constexpr int64_t kLargestExpansion = int64_t{1} << 30;
  int64_t most = column.physical == PhysicalType::FixedBytes ? count * column.fixed_width : kLargestExpansion;
  auto [bytes, begins, ends] = kernels::delta_text_expand(*values.bytes, prefixes, suffixes.begins, suffixes.ends, most);
  return {bytes, begins, ends};
}

// The values of a page must reach its end; fewer bytes than a length prefix may follow.
void check_text_counts(const EncodedValues& values, const at::Tensor& ends, const DataLocation& where) {
  std::vector<int64_t> last;  // index of each page's last value; arbitrary for empty pages
  int64_t total = 0;
  for (int64_t count : values.counts) last.push_back(std::max<int64_t>(0, (total += count) - 1));
  if (total == 0) last.clear();
  at::Tensor last_ends = copied_to(ends.index_select(0, copied_to(at::tensor(last, at::kLong), ends.device())), at::kCPU);
  for (size_t i = 0; i < values.pages.size(); ++i) {
    const PreparedPage& page = values.pages[i];
    const int64_t used_end = values.counts[i] > 0 ? last_ends.const_data_ptr<int64_t>()[i] : page.values_begin;
    if (is_counted(page) && page.values_end - used_end >= 4) refuse_surplus(page, values.counts[i], where);
  }
}

TextPieces decode_text(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where) {
  if (encoding == PageEncoding::Plain) {
    auto [begins, ends] = kernels::plain_text_decode(*values.bytes, simple_table(values));
    check_text_counts(values, ends, where);
    return {*values.bytes, begins, ends};
  }
  if (encoding != PageEncoding::DeltaLengthByteArray && encoding != PageEncoding::DeltaByteArray)
    refuse_encoding(column, encoding, values, where);
  std::vector<at::Tensor> bytes;
  std::vector<at::Tensor> begins;
  std::vector<at::Tensor> ends;
  int64_t shift = 0;
  for (size_t i = 0; i < values.pages.size(); ++i) {
    TextPieces piece = decode_delta_text_page(column, encoding, one_page(values, i), where);
    begins.push_back(piece.begins.add(shift));
    ends.push_back(piece.ends.add(shift));
    if (encoding == PageEncoding::DeltaByteArray) {
      bytes.push_back(piece.bytes);
      shift += piece.bytes.numel();
    }
  }
  return {bytes.empty() ? *values.bytes : kernels::concatenate_tensors(bytes), kernels::concatenate_tensors(begins),
          kernels::concatenate_tensors(ends)};
}

// FIXED_LEN_BYTE_ARRAY in DELTA_BYTE_ARRAY: every value must have the fixed width.
at::Tensor fixed_rows_of_text(const ParquetColumn& column, const TextPieces& text, const DataLocation& where) {
  if (text.begins.numel() > 0 && !text.ends.sub(text.begins).eq(column.fixed_width).all().item<bool>()) {
    throw DataError(fmt::format("a value does not have the {} bytes of the schema", column.fixed_width), where);
  }
  at::Tensor positions = text.begins.unsqueeze(1) + at::arange(column.fixed_width, text.begins.options()).unsqueeze(0);
  return text.bytes.index_select(0, positions.reshape({-1})).view({-1, column.fixed_width});
}

at::Tensor decode_fixed_bytes(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where) {
  int64_t width = column.physical == PhysicalType::Int96 ? 12 : column.fixed_width;
  if (encoding == PageEncoding::Plain) {
    check_plain_counts(values, where, [width](int64_t bytes) { return bytes / width; });
    return kernels::plain_fixed_bytes_decode(*values.bytes, simple_table(values), width);
  }
  if (column.physical == PhysicalType::FixedBytes && encoding == PageEncoding::ByteStreamSplit) {
    check_split_counts(values, width, where);
    return kernels::byte_stream_split_decode(*values.bytes, counted_table(values), width);
  }
  if (column.physical == PhysicalType::FixedBytes && encoding == PageEncoding::DeltaByteArray) {
    return fixed_rows_of_text(column, decode_text(column, encoding, values, where), where);
  }
  refuse_encoding(column, encoding, values, where);
}

at::Tensor decode_numbers(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where) {
  at::ScalarType type = column.physical == PhysicalType::Int32   ? at::kInt
                        : column.physical == PhysicalType::Int64 ? at::kLong
                        : column.physical == PhysicalType::Float ? at::kFloat
                                                                 : at::kDouble;
  bool is_integer = type == at::kInt || type == at::kLong;
  const int64_t width = static_cast<int64_t>(c10::elementSize(type));
  if (encoding == PageEncoding::Plain) {
    check_plain_counts(values, where, [width](int64_t bytes) { return bytes / width; });
    return kernels::plain_decode(*values.bytes, simple_table(values), type);
  }
  if (encoding == PageEncoding::ByteStreamSplit) {
    check_split_counts(values, width, where);
    return fixed_bytes_as(kernels::byte_stream_split_decode(*values.bytes, counted_table(values), width), type);
  }
  if (encoding == PageEncoding::DeltaBinaryPacked && is_integer) {
    for (size_t i = 0; i < values.pages.size(); ++i)
      check_delta_count(values.pages[i].head.bytes(), values.pages[i], values.counts[i], where);
    at::Tensor decoded = std::get<0>(kernels::delta_binary_decode(*values.bytes, counted_table(values), type == at::kInt));
    return decoded.to(type);
  }
  refuse_encoding(column, encoding, values, where);
}

}  // namespace

Column decode_values(const ParquetColumn& column, PageEncoding encoding, const EncodedValues& values, const DataLocation& where) {
  switch (column.physical) {
    case PhysicalType::Boolean:
      if (encoding == PageEncoding::Plain) {
        // The last byte may be padded.
        check_plain_counts(values, where, [](int64_t bytes) { return bytes * 8 - 7; });
        return convert_numbers(column, kernels::plain_boolean_decode(*values.bytes, simple_table(values)), where);
      }
      if (encoding == PageEncoding::Rle) return convert_numbers(column, decode_rle_booleans(values, where), where);
      refuse_encoding(column, encoding, values, where);
    case PhysicalType::Int32:
    case PhysicalType::Int64:
    case PhysicalType::Float:
    case PhysicalType::Double: return convert_numbers(column, decode_numbers(column, encoding, values, where), where);
    case PhysicalType::Int96:
    case PhysicalType::FixedBytes: return convert_fixed_bytes(column, decode_fixed_bytes(column, encoding, values, where), where);
    case PhysicalType::ByteArray: {
      TextPieces text = decode_text(column, encoding, values, where);
      return convert_text(column, text.bytes, text.begins, text.ends, where);
    }
  }
  refuse_encoding(column, encoding, values, where);
}

at::Tensor decode_codes(const EncodedValues& values, std::span<const DictionaryRange> dictionaries, const DataLocation& where) {
  const DictionaryRange* next_dictionary = dictionaries.data();
  at::Tensor table = page_table<7>(values, [&](const PreparedPage& page, int64_t count, int64_t* row) {
    const DictionaryRange dictionary = *next_dictionary++;
    bool empty = count == 0;
    DataLocation place{where.file, where.row_group, where.column, page.file_offset};
    if (!empty && page.values_end == page.values_begin) throw DataError("page has no dictionary codes", place);
    int width = empty ? 0 : page.head.bytes()[0];
    if (width > 32) throw DataError(fmt::format("dictionary codes of {} bits", width), place);
    if (!empty && dictionary.size == 0) throw DataError("page refers to an empty or missing dictionary", place);
    row[0] = page.values_begin + (empty ? 0 : 1);
    row[1] = page.values_end;
    row[2] = width;
    row[3] = dictionary.size;
    row[4] = dictionary.begin;
    row[5] = 0;
    row[6] = count;
  });
  if (total_count(values) == 0) return at::empty({0}, values.bytes->options().dtype(at::kInt));
  return kernels::rle_decode(*values.bytes, table);
}

}  // namespace pistachio
