// CPU bodies of summarize_text and summarize_text_dictionary.

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/dictionary_gather_simd.h"
#include "kernels/cpu/summarize_simd.h"
#include "kernels/cpu/text_extremes.h"
#include "kernels/cpu/text_length_simd.h"
#include "kernels/ops/body_table.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::cpu {

namespace {

struct Text {
  Text(const at::Tensor& bytes, const at::Tensor& begin_tensor, const at::Tensor& end_tensor)
      : data(bytes.const_data_ptr<uint8_t>()),
        size(bytes.numel()),
        begins(begin_tensor.const_data_ptr<int64_t>()),
        ends(end_tensor.const_data_ptr<int64_t>()),
        rows(begin_tensor.numel()) {}
  TextSpan value(int64_t row) const { return {data + begins[row], ends[row] - begins[row]}; }

  const uint8_t* data;
  int64_t size;
  const int64_t* begins;
  const int64_t* ends;
  int64_t rows;
};

const uint8_t* validity_bytes(const std::optional<at::Tensor>& validity) {
  return validity ? reinterpret_cast<const uint8_t*>(validity->const_data_ptr<bool>()) : nullptr;
}

TextExtremes find_extremes(const Text& text, const uint8_t* considered) {
  TextExtremes extremes(text.data + text.size);
  for (int64_t row = 0; row < text.rows; ++row) {
    if (considered == nullptr || considered[row] != 0) extremes.add(text.value(row), row);
  }
  return extremes;
}

at::Tensor pack(const TextLengths& lengths, const TextExtremes& extremes) {
  return at::tensor({lengths.count, lengths.characters, lengths.bytes, extremes.min_index(), extremes.max_index()}, at::kLong);
}

at::Tensor summarize_text(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends,
                          const std::optional<at::Tensor>& validity) {
  const Text text(bytes, begins, ends);
  const uint8_t* valid = validity_bytes(validity);
  return pack(sum_text_lengths(text.data, text.begins, text.ends, valid, text.rows), find_extremes(text, valid));
}

// One byte per entry: whether a valid row uses it. An extra last entry absorbs the codes of invalid rows.
std::vector<uint8_t> used_entries(int64_t entries, const int32_t* codes, const uint8_t* validity, int64_t rows) {
  std::vector<uint8_t> used(static_cast<size_t>(entries) + 1);
  uint8_t* const mark = used.data();  // a local, since byte stores may alias the vector's own pointer
  constexpr int64_t block = 4096;
  for (int64_t start = 0; start < rows; start += block) {
    const int64_t stop = std::min(rows, start + block);
    if (validity == nullptr) {
      for (int64_t row = start; row < stop; ++row) mark[codes[row]] = 1;
    } else {
      for (int64_t row = start; row < stop; ++row) mark[validity[row] != 0 ? codes[row] : entries] = 1;
    }
    // The first rows usually use every entry of a small dictionary; then the rest cannot add anything.
    if (entries <= block && std::memchr(mark, 0, static_cast<size_t>(entries)) == nullptr) break;
  }
  return used;
}

// For dictionaries with no more entries than rows: computes the length of each entry, then sums over the codes.
TextLengths sum_by_entry(const Text& dictionary, const int32_t* codes, const uint8_t* validity, int64_t rows) {
  // Tensors, because their memory comes from the caching allocator: a fresh mapping per call would cost more than the counting.
  at::Tensor character_tensor = at::empty({dictionary.rows}, at::kLong), byte_tensor = at::empty({dictionary.rows}, at::kLong);
  int64_t* characters = character_tensor.mutable_data_ptr<int64_t>();
  int64_t* bytes = byte_tensor.mutable_data_ptr<int64_t>();
  count_characters(dictionary.data, dictionary.begins, dictionary.ends, dictionary.rows, characters);
  bool all_ascii = true;
  for (int64_t entry = 0; entry < dictionary.rows; ++entry) {
    bytes[entry] = dictionary.ends[entry] - dictionary.begins[entry];
    all_ascii &= bytes[entry] == characters[entry];
  }
  const auto sum = [&](const int64_t* lengths) {
    return summarize_integers(ValueKind::Int64, lengths, dictionary.rows, codes, validity, rows);
  };
  const IntegerSummary by_characters = sum(characters);
  const int64_t byte_sum = static_cast<int64_t>(all_ascii ? by_characters.sum : sum(bytes).sum);
  return {by_characters.count, static_cast<int64_t>(by_characters.sum), byte_sum};
}

// For larger dictionaries, which may be mostly unused: looks up the rows, then proceeds as for plain text.
TextLengths sum_by_row(const Text& dictionary, const int32_t* codes, const uint8_t* validity, int64_t rows) {
  at::Tensor begins = at::empty({rows}, at::kLong), ends = at::empty({rows}, at::kLong);
  gather_values(dictionary.begins, dictionary.rows, 8, codes, rows, begins.mutable_data_ptr());
  gather_values(dictionary.ends, dictionary.rows, 8, codes, rows, ends.mutable_data_ptr());
  return sum_text_lengths(dictionary.data, begins.const_data_ptr<int64_t>(), ends.const_data_ptr<int64_t>(), validity, rows);
}

at::Tensor summarize_text_dictionary(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& codes,
                                     const std::optional<at::Tensor>& validity) {
  const Text dictionary(bytes, begins, ends);
  const int32_t* code = codes.const_data_ptr<int32_t>();
  const uint8_t* valid = validity_bytes(validity);
  const int64_t rows = codes.numel();
  const TextLengths lengths =
      dictionary.rows <= rows ? sum_by_entry(dictionary, code, valid, rows) : sum_by_row(dictionary, code, valid, rows);
  return pack(lengths, find_extremes(dictionary, used_entries(dictionary.rows, code, valid, rows).data()));
}

}  // namespace

REGISTER_BODY(Cpu, "summarize_text", summarize_text);
REGISTER_BODY(Cpu, "summarize_text_dictionary", summarize_text_dictionary);

}  // namespace pistachio::kernels::cpu
