// Random calls of the text operations.
#include <cstring>

#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/compare_text_constant.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/summarize_text.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"
#include "kernels/ops/text_match.h"
#include "kernels/ops/text_prefixes.h"
#include "kernels/ops/text_substring.h"

namespace pistachio::kernels::kernel_cases {

namespace {

using test_streams::Bytes;
using test_streams::Random;
using test_streams::uniform;

struct TextWithValues {
  at::Tensor bytes, begins, ends;
  std::vector<std::string> values;
};

std::string draw_value(Random& random, int64_t kind) {
  static const std::string pieces[] = {"a", "b", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", std::string(1, '\0'), "z", "\xff"};
  std::string value = kind == 1 ? "a common prefix that is long" : "";
  for (int64_t i = uniform(random, 0, random() % 40 == 0 ? 200 : 12); i > 0; --i) value += pieces[random() % (kind == 0 ? 2 : 8)];
  return value;
}

// Values with gaps between them, sometimes not in memory order.
TextWithValues draw_text_with_values(Draw& draw, int64_t rows) {
  Random& random = draw.random;
  const int64_t kind = uniform(random, 0, 2), gap = uniform(random, 0, 1) * 4;
  const bool shuffled = uniform(random, 0, 3) == 0;
  TextWithValues text;
  Bytes bytes;
  std::vector<int64_t> begins, ends;
  for (int64_t i = 0; i < rows; ++i) {
    if (shuffled && i > 0 && random() % 2 == 0) {  // reuse the previous bytes
      const size_t other = random() % begins.size();
      begins.push_back(begins[other]);
      ends.push_back(ends[other]);
      text.values.push_back(text.values[other]);
      continue;
    }
    for (int64_t j = 0; j < gap; ++j) bytes.push_back(static_cast<uint8_t>(j == 0 ? random() : 0));
    text.values.push_back(draw_value(random, kind));
    begins.push_back(static_cast<int64_t>(bytes.size()));
    bytes.insert(bytes.end(), text.values.back().begin(), text.values.back().end());
    ends.push_back(static_cast<int64_t>(bytes.size()));
  }
  text.bytes = bytes_tensor(draw, bytes);
  text.begins = disguise(draw, at::tensor(begins, at::kLong));
  text.ends = disguise(draw, at::tensor(ends, at::kLong));
  return text;
}

std::vector<at::Tensor> summary_tensor(const TextSummary& summary) {
  return {at::tensor({summary.count, summary.characters, summary.bytes, summary.min_index, summary.max_index}, at::kLong)};
}

Call draw_compare_text(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  const Comparison comparison = static_cast<Comparison>(uniform(draw.random, 0, 5));
  std::string constant = draw_value(draw.random, uniform(draw.random, 0, 2));
  if (draw.rows > 0 && uniform(draw.random, 0, 1) == 0) constant = text.values[draw.random() % text.values.size()];
  return [=]() -> std::vector<at::Tensor> { return {compare_text_constant(text.bytes, text.begins, text.ends, comparison, constant)}; };
}

Call draw_compact(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  int64_t room = -1;
  if (uniform(draw.random, 0, 1) == 0) {
    room = uniform(draw.random, 0, 1) * 1000;
    for (const std::string& value : text.values) room += static_cast<int64_t>(value.size());
  }
  return [=]() -> std::vector<at::Tensor> {
    auto [bytes, offsets] = text_compact(text.bytes, text.begins, text.ends, room);
    return {bytes.slice(0, 0, offsets[-1].item<int64_t>()), offsets};  // what follows is undefined
  };
}

Call draw_hash_text(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  return [=]() -> std::vector<at::Tensor> { return {hash64_text(text.bytes, text.begins, text.ends)}; };
}

Call draw_summarize_text(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  const at::Tensor validity = uniform(draw.random, 0, 1) == 0 ? at::Tensor() : random_mask(draw, draw.rows);
  return [=] { return summary_tensor(summarize_text(text.bytes, text.begins, text.ends, validity)); };
}

Call draw_summarize_text_dictionary(Draw& draw) {
  const int64_t sizes[] = {1, 5, 16, 100, 3000};
  const int64_t entries = sizes[draw.random() % (draw.rows < 100 ? 4 : 5)];
  const TextWithValues text = draw_text_with_values(draw, entries);
  at::Tensor codes = at::empty({draw.rows}, at::kInt);
  for (int64_t row = 0; row < draw.rows; ++row) {
    codes.mutable_data_ptr<int32_t>()[row] = static_cast<int32_t>(draw.random() % static_cast<uint64_t>(entries));
  }
  codes = disguise(draw, codes);
  const at::Tensor validity = uniform(draw.random, 0, 1) == 0 ? at::Tensor() : random_mask(draw, draw.rows);
  return [=] { return summary_tensor(summarize_text_dictionary(text.bytes, text.begins, text.ends, codes, validity)); };
}

// Literals use characters of the texts, some are substrings of one, so that patterns match now and then.
Call draw_match(Draw& draw) {
  Random& random = draw.random;
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  const int64_t segments = uniform(random, 1, 4);
  std::vector<int64_t> pieces;
  std::string literals;
  for (int64_t segment = 0; segment < segments; ++segment) {
    for (int64_t count = uniform(random, 0, 2); count > 0; --count) {
      std::string literal;
      if (random() % 4 == 0 && draw.rows > 0) {
        literal = text.values[random() % text.values.size()];
      } else {
        for (int64_t i = uniform(random, 0, random() % 8 == 0 ? 12 : 2); i > 0; --i) literal += random() % 2 == 0 ? "a" : "b";
      }
      pieces.insert(pieces.end(), {segment, uniform(random, 0, 2), static_cast<int64_t>(literal.size())});
      literals += literal;
    }
  }
  const at::Tensor table = at::tensor(pieces, at::kLong).view({-1, 3});
  return [=]() -> std::vector<at::Tensor> { return {text_match(text.bytes, text.begins, text.ends, table, literals, segments)}; };
}

Call draw_substring(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  const int64_t skipped = uniform(draw.random, 0, 12);
  const int64_t count = draw.random() % 4 == 0 ? INT64_MAX : uniform(draw.random, 0, 12);
  return [=]() -> std::vector<at::Tensor> {
    auto [begins, ends] = text_substring(text.bytes, text.begins, text.ends, skipped, count);
    return {begins, ends};
  };
}

// The prefix is that of a value, and of one that may be followed by others.
Call draw_text_prefixes(Draw& draw) {
  const TextWithValues text = draw_text_with_values(draw, draw.rows);
  std::string start;
  if (draw.rows > 0) start = text.values[draw.random() % text.values.size()].substr(0, static_cast<size_t>(uniform(draw.random, 0, 12)));
  at::Tensor prefix = at::empty({static_cast<int64_t>(start.size())}, at::kByte);
  std::copy(start.begin(), start.end(), prefix.mutable_data_ptr<uint8_t>());
  return [=]() -> std::vector<at::Tensor> {
    auto [words, lengths] = text_prefixes(text.bytes, text.begins, text.ends, prefix);
    return {words, lengths};
  };
}

}  // namespace

std::vector<Operation> text_operations() {
  return {{"compare_text_constant", draw_compare_text, {}},
          {"text_compact", draw_compact, {}},
          {"hash64_text", draw_hash_text, {}},
          {"text_match", draw_match, {}},
          {"text_substring", draw_substring, {}},
          {"text_prefixes", draw_text_prefixes, {}},
          {"summarize_text", draw_summarize_text, {}},
          {"summarize_text_dictionary", draw_summarize_text_dictionary, {}}};
}

}  // namespace pistachio::kernels::kernel_cases
