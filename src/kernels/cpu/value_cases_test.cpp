// Random calls of the operations on fixed-width values.
#include <ATen/TensorIndexing.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/argument_check.h"
#include "kernels/ops/checked_arithmetic.h"
#include "kernels/ops/compare_constant.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/host_memory.h"
#include "kernels/ops/key_places.h"
#include "kernels/ops/magnitude_below.h"
#include "kernels/ops/spread.h"
#include "kernels/ops/summarize.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels::kernel_cases {

namespace {

using test_streams::uniform;
using Limits64 = std::numeric_limits<int64_t>;

std::vector<at::Tensor> summary_tensors(const ColumnSummary& summary) {
  return {at::tensor({summary.count, int64_t{summary.floating}, low_word(summary.min), high_word(summary.min), low_word(summary.max),
                      high_word(summary.max), low_word(summary.sum), high_word(summary.sum)},
                     at::kLong),
          at::tensor({summary.float_min, summary.float_max, summary.float_sum}, at::kDouble)};
}

struct Coded {
  at::Tensor dictionary;
  at::Tensor codes;
};

Coded draw_coded(Draw& draw) {
  const int64_t sizes[] = {1, 3, 8, 9, 16, 17, 32, 33, 1000, 100000};
  const int64_t entries = sizes[draw.random() % (draw.rows < 1000 ? 9 : 10)];
  at::Tensor codes = at::empty({draw.rows}, at::kInt);
  int32_t* out = codes.mutable_data_ptr<int32_t>();
  for (int64_t row = 0; row < draw.rows; ++row) out[row] = static_cast<int32_t>(draw.random() % static_cast<uint64_t>(entries));
  return {random_values(draw, entries, true), disguise(draw, codes)};
}

Call draw_spread(Draw& draw) {
  const at::Tensor validity = random_mask(draw, draw.rows);
  const at::Tensor values = random_values(draw, validity.sum().item<int64_t>(), true);
  return [=]() -> std::vector<at::Tensor> { return {spread(values, validity)}; };
}

Call draw_compress(Draw& draw) {
  const at::Tensor values = random_values(draw, draw.rows, true), mask = random_mask(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> { return {compress(values, mask), at::tensor({count_true(mask)}, at::kLong)}; };
}

// Sizes around those at which an upload changes its way.
Call draw_upload(Draw& draw) {
  const int64_t bytes = uniform(draw.random, 0, 4) == 0 ? kSmallUpload + uniform(draw.random, -1, 1) : draw.rows;
  const at::Tensor host = at::randint(256, {bytes}, at::kByte);
  return [host, device = draw.device]() -> std::vector<at::Tensor> { return {upload(host, device)}; };
}

// Sometimes more than one piece.
Call draw_download(Draw& draw) {
  const int64_t rows = uniform(draw.random, 0, 9) == 0 ? (int64_t{9} << 20) / 8 : draw.rows;
  const at::Tensor values = random_values(draw, rows, true).contiguous();
  return [values]() -> std::vector<at::Tensor> { return {download(values)}; };
}

Call draw_download_ranges(Draw& draw) {
  std::vector<at::Tensor> sources;
  std::vector<int64_t> offsets;
  int64_t bytes = 0;
  for (int64_t count = uniform(draw.random, 1, 5); count > 0; --count) {
    sources.push_back(random_values(draw, uniform(draw.random, 0, draw.rows), uniform(draw.random, 0, 1) == 0).contiguous());
    offsets.push_back(bytes + uniform(draw.random, 0, 64));
    bytes = offsets.back() + static_cast<int64_t>(sources.back().nbytes());
  }
  const bool is_pinned = draw.device.is_cuda() && uniform(draw.random, 0, 1) == 0;
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor out = at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(is_pinned)).zero_();
    download_ranges(out, sources, offsets);
    return {out};
  };
}

Call draw_upload_ranges(Draw& draw) {
  const at::Tensor host = at::randint(256, {draw.rows + 1}, at::kByte);
  std::vector<int64_t> copies;
  int64_t target = 0;
  for (int64_t begin = 0; begin < draw.rows;) {
    const int64_t bytes = uniform(draw.random, 0, draw.rows - begin);
    copies.insert(copies.end(), {reinterpret_cast<intptr_t>(host.const_data_ptr<uint8_t>() + begin), bytes, target});
    target += bytes;
    begin += bytes + uniform(draw.random, 1, 5);
  }
  const at::Tensor table = at::tensor(copies, at::kLong).view({static_cast<int64_t>(copies.size() / 3), 3});
  return [=, device = draw.device]() -> std::vector<at::Tensor> {
    const at::Tensor out = at::zeros({target}, at::TensorOptions(at::kByte).device(device));
    upload_ranges(out, table);
    return {out, host.slice(0, 0, 1)};  // keeps `host` alive
  };
}

// Mostly small numbers, so that some calls do not overflow; the others must end in the same error. Divisors include zero.
at::Tensor draw_integers(Draw& draw, int64_t rows, at::ScalarType type, bool wide) {
  at::Tensor values = wide ? at::zeros({rows, 2}, at::kLong) : at::zeros({rows}, at::kLong);
  const bool extremes = uniform(draw.random, 0, 3) == 0;
  const int64_t most = uniform(draw.random, 0, 1) == 0 ? 5 : 100;
  const int64_t lowest = uniform(draw.random, 0, 1) == 0 ? 1 : -most;
  for (int64_t row = 0; row < rows; ++row) {
    const bool extreme = extremes && draw.random() % 8 == 0;
    const int64_t value = extreme ? static_cast<int64_t>(draw.random()) : uniform(draw.random, lowest, most);
    if (!wide) {
      values.mutable_data_ptr<int64_t>()[row] = value;
      continue;
    }
    values.mutable_data_ptr<int64_t>()[row * 2] = value;
    values.mutable_data_ptr<int64_t>()[row * 2 + 1] = extreme ? static_cast<int64_t>(draw.random()) : value >> 63;
  }
  return disguise(draw, values.to(type));
}

Call draw_arithmetic(Draw& draw) {
  const bool wide = draw.random() % 3 == 0;
  const at::ScalarType types[] = {at::kChar, at::kShort, at::kInt, at::kLong};
  const at::ScalarType type = wide ? at::kLong : types[draw.random() % 4];
  const auto operation = static_cast<Arithmetic>(draw.random() % 6);
  const bool one_left = draw.random() % 4 == 0, one_right = !one_left && draw.random() % 3 == 0;
  const at::Tensor left = draw_integers(draw, one_left ? 1 : draw.rows, type, wide && draw.random() % 3 != 0);
  const at::Tensor right = draw_integers(draw, one_right ? 1 : draw.rows, type, wide && draw.random() % 3 != 0);
  const int64_t rows = left.size(0) == 1 ? right.size(0) : left.size(0);
  const at::Tensor valid = optional_mask(draw, rows);
  return [=]() -> std::vector<at::Tensor> {
    const at::Tensor result = wide ? wide_arithmetic(left, operation, right, valid) : checked_arithmetic(left, operation, right, valid);
    // Invalid rows may hold anything.
    return {valid.defined() ? result.index({valid}) : result};
  };
}

Call draw_gather(Draw& draw) {
  const Coded coded = draw_coded(draw);
  return [=]() -> std::vector<at::Tensor> { return {dictionary_gather(coded.dictionary, coded.codes)}; };
}

at::Scalar draw_constant(Draw& draw, const at::Tensor& values) {
  const bool floating = values.is_floating_point();
  if (values.numel() > 0 && uniform(draw.random, 0, 2) != 0) {
    const at::Tensor one = values[uniform(draw.random, 0, values.numel() - 1)];
    return floating ? at::Scalar(one.item<double>()) : at::Scalar(one.to(at::kLong).item<int64_t>());
  }
  if (floating) {
    const double odd[] = {std::nan(""), 0.1, -0.0, 1e300, -1e300, std::numeric_limits<double>::infinity(), 16777217.0};
    return at::Scalar(odd[draw.random() % 7]);
  }
  const int64_t odd[] = {Limits64::max(), Limits64::min(), 0, 127, 128, -129, int64_t{1} << 31, 300};
  return at::Scalar(odd[draw.random() % 8]);
}

Call draw_compare(Draw& draw) {
  const at::Tensor values = random_values(draw, draw.rows, true);
  const Comparison comparison = static_cast<Comparison>(uniform(draw.random, 0, 5));
  if (is_wide(values)) {
    int64_t low = static_cast<int64_t>(draw.random()), high = low >> 63;
    if (draw.rows > 0 && uniform(draw.random, 0, 1) == 0) {
      low = values[0][0].item<int64_t>();
      high = values[0][1].item<int64_t>();
    }
    return [=]() -> std::vector<at::Tensor> { return {compare_wide_constant(values, comparison, low, high)}; };
  }
  const at::Scalar constant = draw_constant(draw, values);
  return [=]() -> std::vector<at::Tensor> { return {compare_constant(values, comparison, constant)}; };
}

Call draw_summarize(Draw& draw) {
  const at::Tensor values = random_values(draw, draw.rows, true), validity = optional_mask(draw, draw.rows);
  return [=] { return summary_tensors(summarize(values, validity)); };
}

// Arbitrary positive doubles: the last bits of a sum depend on the order of the additions.
Call draw_summarize_rounded(Draw& draw) {
  at::Tensor values = at::empty({draw.rows}, at::kDouble);
  for (int64_t row = 0; row < draw.rows; ++row) {
    values.mutable_data_ptr<double>()[row] = std::uniform_real_distribution<double>(0, 1e6)(draw.random);
  }
  values = disguise(draw, values);
  const at::Tensor validity = optional_mask(draw, draw.rows);
  return [=] { return summary_tensors(summarize(values, validity)); };
}

Call draw_summarize_dictionary(Draw& draw) {
  const Coded coded = draw_coded(draw);
  const at::Tensor validity = optional_mask(draw, draw.rows);
  return [=] { return summary_tensors(summarize_dictionary(coded.dictionary, coded.codes, validity)); };
}

Call draw_hash(Draw& draw) {
  const at::Tensor first = random_values(draw, draw.rows, true), second = random_values(draw, draw.rows, true);
  return [=]() -> std::vector<at::Tensor> {
    const at::Tensor left = hash64(first), right = hash64(second);
    return {left, right, hash64_combine(left, right)};
  };
}

Call draw_wide_magnitude(Draw& draw) {
  const at::Tensor values = draw_integers(draw, draw.rows, at::kLong, true);
  Int128 bound = 1;
  for (int64_t digits = uniform(draw.random, 0, 38); digits > 0; --digits) bound *= 10;
  const at::Tensor validity = optional_mask(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> { return {at::tensor({int64_t{magnitude_below(values, bound, validity)}}, at::kLong)}; };
}

// Bounds are powers of ten around the greatest magnitude, or next to it.
Call draw_magnitude(Draw& draw) {
  const at::Tensor values = draw_integers(draw, draw.rows, draw.random() % 2 == 0 ? at::kInt : at::kLong, false);
  const at::Tensor validity = optional_mask(draw, draw.rows);
  int64_t bound = 1;
  for (int64_t digits = uniform(draw.random, 0, 18); digits > 0; --digits) bound *= 10;
  if (draw.rows > 0 && draw.random() % 2 == 0) {
    const int64_t value = values[uniform(draw.random, 0, draw.rows - 1)].item<int64_t>();
    if (value > -Limits64::max() && value != 0) bound = std::abs(value) - (std::abs(value) > 1 && draw.random() % 2 == 0);
  }
  return [=]() -> std::vector<at::Tensor> { return {at::tensor({int64_t{magnitude_below(values, bound, validity)}}, at::kLong)}; };
}

// One to three keys of few values.
Call draw_key_places(Draw& draw) {
  struct Key {
    at::Tensor values;
    at::Tensor validity;
    int64_t least;
    int64_t size;
  };
  std::vector<Key> keys;
  int64_t size = 1;
  for (int64_t count = uniform(draw.random, 1, 3); count > 0; --count) {
    const at::ScalarType types[] = {at::kBool, at::kChar, at::kShort, at::kInt, at::kLong};
    const at::ScalarType type = types[draw.random() % 5];
    const int64_t values = type == at::kBool ? 2 : uniform(draw.random, 1, type == at::kChar ? 20 : 200);
    const int64_t leasts[] = {0, -7, 100, Limits64::min(), Limits64::max() - 200};
    const int64_t least = type == at::kBool ? 0 : leasts[draw.random() % (type == at::kLong ? 5 : 3)];
    at::Tensor drawn = (at::randint(values, {draw.rows}, at::kLong) + least).to(type);
    at::Tensor validity = optional_mask(draw, draw.rows);
    // Anything may be under a NULL.
    if (validity.defined() && type == at::kLong) drawn = drawn.masked_fill(validity.logical_not().cpu(), Limits64::min());
    keys.push_back({disguise(draw, drawn), validity, least, values + 1});
    size *= values + 1;
  }
  return [=]() -> std::vector<at::Tensor> {
    at::Tensor places;
    for (const Key& key : keys) places = append_digit(places, key.values, key.least, key.size, key.validity);
    return {places, present_places(places, size)};
  };
}

}  // namespace

std::vector<Operation> value_operations() {
  return {{"spread", draw_spread, {}},
          {"compress", draw_compress, {}},
          {"checked_arithmetic", draw_arithmetic, {}},
          {"dictionary_gather", draw_gather, {}},
          {"compare_constant", draw_compare, {}},
          {"summarize", draw_summarize, {}},
          {"summarize_rounded", draw_summarize_rounded, {}},
          {"summarize_dictionary", draw_summarize_dictionary, {}},
          {"hash64", draw_hash, {}},
          {"key_places", draw_key_places, {}},
          {"magnitude_below", draw_magnitude, {}},
          {"magnitude_below_of_two_words", draw_wide_magnitude, {}},
          {"upload", draw_upload, {}},
          {"download", draw_download, {}},
          {"download_ranges", draw_download_ranges, {}},
          {"upload_ranges", draw_upload_ranges, {}}};
}

}  // namespace pistachio::kernels::kernel_cases
