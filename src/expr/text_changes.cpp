#include "expr/text_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "expr/argument_access.h"
#include "expr/letter_case.h"
#include "expr/md5_digest.h"
#include "expr/polled_text.h"
#include "expr/text_builder.h"
#include "expr/text_pieces.h"
#include "expr/utf8_text.h"

namespace pistachio {

namespace {

constexpr int64_t kLongestText = int64_t{1} << 30;
// Longer results of repeat are not written copy by copy.
constexpr int64_t kShortRepetition = 1 << 12;

// Validity of an argument, for functions that handle NULLs themselves.
class ArgumentPresence {
 public:
  explicit ArgumentPresence(const Argument& argument)
      : tensor_(argument.column.has_validity() ? argument.column.validity().contiguous() : at::Tensor()),
        data_(tensor_.defined() ? tensor_.const_data_ptr<bool>() : nullptr),
        step_(argument.is_constant ? 0 : 1) {}
  bool operator[](int64_t row) const { return data_ == nullptr || data_[row * step_]; }

 private:
  at::Tensor tensor_;
  const bool* data_;
  int64_t step_;
};

struct NullableText {
  explicit NullableText(const Argument& argument) : text(argument), presence(argument) {}
  ArgumentText text;
  ArgumentPresence presence;
};

std::vector<NullableText> texts_from(const FunctionCall& call, size_t first) {
  std::vector<NullableText> texts;
  for (size_t i = first; i < call.arguments.size(); ++i) texts.emplace_back(call.arguments[i]);
  return texts;
}

int64_t total_bytes(const std::vector<NullableText>& texts, int64_t rows) {
  int64_t total = 0;
  for (const NullableText& text : texts) total += text.text.total_bytes(rows);
  return total;
}

template <LetterCase letter_case>
Column change_case(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    for_each_character_block(text[row], poll, [&](std::string_view block) { append_in_case(block, letter_case, builder); });
  };
  return build_polled_text(call, text.total_bytes(call.rows), append, text);
}

// The largest number if it does not fit.
int64_t product(int64_t count, int64_t bytes) {
  int64_t result;
  return __builtin_mul_overflow(count, bytes, &result) ? INT64_MAX : result;
}

void check_length(int64_t bytes) {
  if (bytes > kLongestText) throw UserError("the text would be longer than 1 GiB");
}

// `count` characters of repeated `fill`.
template <typename Poll>
void append_fill(TextBuilder& builder, std::string_view fill, int64_t fill_characters, int64_t count, Poll& poll) {
  int64_t times = count / fill_characters;
  check_length(product(times, static_cast<int64_t>(fill.size())));
  builder.append_repeated(fill, times);
  const char* end = skip_characters(fill.data(), fill.data() + fill.size(), count - times * fill_characters, poll);
  builder.append(fill.substr(0, static_cast<size_t>(end - fill.data())));
}

// Both pads truncate longer text at its end.
template <bool left>
Column pad(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> length(call.arguments[1]);
  std::optional<ArgumentText> fills;
  if (call.arguments.size() == 3) fills.emplace(call.arguments[2]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    std::string_view value = text[row];
    std::string_view fill = fills ? (*fills)[row] : " ";
    int64_t missing = length[row] - count_characters(value, poll);
    if (missing < 0) return builder.append(substring_of(value, 1, std::max<int64_t>(length[row], 0), poll));
    int64_t fill_characters = count_characters(fill, poll);
    if (!left) builder.append(value);
    if (fill_characters > 0) append_fill(builder, fill, fill_characters, missing, poll);
    if (left) builder.append(value);
  };
  if (!fills) return build_polled_text(call, text.total_bytes(call.rows), append, text);
  return build_polled_text(call, text.total_bytes(call.rows), append, text, *fills);
}

// Mapping of characters; those without a counterpart are dropped. The first mapping of a character wins.
class Translation {
 public:
  template <typename Poll>
  Translation(std::string_view from, std::string_view to, Poll& poll) {
    ascii_.fill(kSame);
    const char* from_at = from.data();
    const char* from_end = from_at + from.size();
    const char* to_at = to.data();
    const char* to_end = to_at + to.size();
    while (from_at < from_end) {
      poll(1);
      uint32_t source = read_code_point(from_at, from_end);
      uint32_t target = to_at < to_end ? read_code_point(to_at, to_end) : kDropped;
      if (source >= 128) {
        others_.try_emplace(source, target);
      } else if (ascii_[source] == kSame) {
        ascii_[source] = target;
      }
    }
  }

  template <typename Poll>
  void append(std::string_view text, TextBuilder& builder, Poll& poll) const {
    for_each_character_block(text, poll, [&](std::string_view block) { append_block(block, builder); });
  }

 private:
  static constexpr uint32_t kSame = 0xFFFFFFFF;
  static constexpr uint32_t kDropped = 0xFFFFFFFE;

  void append_block(std::string_view block, TextBuilder& builder) const {
    char* to = builder.reserve(static_cast<int64_t>(block.size()) * 4);
    char* out = to;
    const char* at = block.data();
    const char* end = at + block.size();
    while (at < end) {
      uint32_t code = read_code_point(at, end);
      uint32_t target = find(code);
      if (target != kDropped) out += write_code_point(target == kSame ? code : target, out);
    }
    builder.commit(out - to);
  }

  uint32_t find(uint32_t code) const {
    if (code < 128) return ascii_[code];
    auto found = others_.find(code);
    return found == others_.end() ? kSame : found->second;
  }

  std::array<uint32_t, 128> ascii_;
  std::unordered_map<uint32_t, uint32_t> others_;
};

template <typename Poll>
void append_replaced(std::string_view text, std::string_view from, std::string_view to, TextBuilder& builder, Poll& poll) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (const char* found = from.empty() ? nullptr : find_bytes(at, end, from, poll)) {
    builder.append(std::string_view(at, static_cast<size_t>(found - at)));
    builder.append(to);
    at = found + from.size();
  }
  builder.append(std::string_view(at, static_cast<size_t>(end - at)));
}

// [at, end), which begins with a character.
void append_reversed_block(const char* at, const char* end, TextBuilder& builder) {
  int64_t bytes = end - at;
  char* out = builder.reserve(bytes) + bytes;
  while (at < end) {
    const char* next = next_character(at, end);
    out -= next - at;
    std::memcpy(out, at, static_cast<size_t>(next - at));
    at = next;
  }
  builder.commit(bytes);
}

// Long text block by block from its end.
template <typename Poll>
void append_reversed(std::string_view text, TextBuilder& builder, Poll& poll) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if constexpr (Poll::kIsActive) {
    while (end - begin > kBytesPerPoll) {
      const char* cut = end - kBytesPerPoll;
      poll(kBytesPerPoll);
      for (; cut > begin && continues_character(*cut); --cut) poll(1);
      append_reversed_block(cut, end, builder);
      end = cut;
    }
  }
  append_reversed_block(begin, end, builder);
}

template <typename Poll>
std::array<uint8_t, 16> md5_of(std::string_view text, Poll& poll) {
  static_assert(kBytesPerPoll % 64 == 0);
  Md5Digest digest;
  for (; Poll::kIsActive && static_cast<int64_t>(text.size()) > kBytesPerPoll; text.remove_prefix(kBytesPerPoll)) {
    poll(kBytesPerPoll);
    digest.add(text.substr(0, kBytesPerPoll));
  }
  return digest.finish(text);
}

void append_hexadecimal(TextBuilder& builder, uint64_t value) {
  char digits[16];
  int count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  while (count > 0) builder.append(digits[--count]);
}

}  // namespace

Column join_texts(const FunctionCall& call) {
  ArgumentText left(call.arguments[0]);
  ArgumentText right(call.arguments[1]);
  return build_text(call, left.total_bytes(call.rows) + right.total_bytes(call.rows), [&](int64_t row, TextBuilder& builder) {
    builder.append(left[row]);
    builder.append(right[row]);
  });
}

Column concatenate(const FunctionCall& call) {
  std::vector<NullableText> texts = texts_from(call, 0);
  return build_text(call, total_bytes(texts, call.rows), [&](int64_t row, TextBuilder& builder) {
    for (const NullableText& text : texts) {
      if (text.presence[row]) builder.append(text.text[row]);
    }
  });
}

Column concatenate_with(const FunctionCall& call) {
  NullableText separator(call.arguments[0]);
  std::vector<NullableText> texts = texts_from(call, 1);
  Column joined = build_text(call, total_bytes(texts, call.rows), [&](int64_t row, TextBuilder& builder) {
    bool first = true;
    for (const NullableText& text : texts) {
      if (!text.presence[row]) continue;
      if (!first) builder.append(separator.text[row]);
      builder.append(text.text[row]);
      first = false;
    }
  });
  at::Tensor validity = call.arguments[0].expanded(call.rows).validity();
  return Column::text(joined.type(), joined.bytes(), joined.begins(), joined.ends(), validity);
}

Column upper_case(const FunctionCall& call) {
  return change_case<LetterCase::Upper>(call);
}

Column lower_case(const FunctionCall& call) {
  return change_case<LetterCase::Lower>(call);
}

Column capitalize(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    bool in_word = false;
    for_each_character_block(text[row], poll, [&](std::string_view block) { append_capitalized(block, in_word, builder); });
  };
  return build_polled_text(call, text.total_bytes(call.rows), append, text);
}

Column pad_left(const FunctionCall& call) {
  return pad<true>(call);
}

Column pad_right(const FunctionCall& call) {
  return pad<false>(call);
}

Column replace_all(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText from(call.arguments[1]);
  ArgumentText to(call.arguments[2]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) { append_replaced(text[row], from[row], to[row], builder, poll); };
  return build_polled_text(call, text.total_bytes(call.rows), append, text, from);
}

Column translate_characters(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText from(call.arguments[1]);
  ArgumentText to(call.arguments[2]);
  if (call.arguments[1].is_constant && call.arguments[2].is_constant) {
    WorkPoll poll_once(call.token);
    Translation translation(from[0], to[0], poll_once);
    auto append = [&](int64_t row, TextBuilder& builder, auto& poll) { translation.append(text[row], builder, poll); };
    return build_polled_text(call, text.total_bytes(call.rows), append, text);
  }
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    Translation(from[row], to[row], poll).append(text[row], builder, poll);
  };
  return build_polled_text(call, text.total_bytes(call.rows), append, text, from);
}

Column reverse_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) { append_reversed(text[row], builder, poll); };
  return build_polled_text(call, text.total_bytes(call.rows), append, text);
}

Column repeat_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentValues<int64_t> count(call.arguments[1]);
  return build_text(call, text.total_bytes(call.rows), [&](int64_t row, TextBuilder& builder) {
    int64_t times = text[row].empty() ? 0 : std::max<int64_t>(count[row], 0);
    int64_t bytes = product(times, static_cast<int64_t>(text[row].size()));
    if (bytes > kShortRepetition) {
      check_length(bytes);
      return builder.append_repeated(text[row], times);
    }
    for (; times > 0; --times) builder.append(text[row]);
  });
}

Column overlay_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  ArgumentText replacement(call.arguments[1]);
  ArgumentValues<int64_t> start(call.arguments[2]);
  std::optional<ArgumentValues<int64_t>> lengths;
  if (call.arguments.size() == 4) lengths.emplace(call.arguments[3]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    if (start[row] <= 0) throw UserError("negative substring length not allowed");
    int64_t length = lengths ? (*lengths)[row] : count_characters(replacement[row], poll);
    int64_t behind;
    if (__builtin_add_overflow(start[row], length, &behind)) throw UserError("number out of range");
    builder.append(substring_of(text[row], 1, start[row] - 1, poll));
    builder.append(replacement[row]);
    builder.append(substring_of(text[row], behind, INT64_MAX, poll));
  };
  return build_polled_text(call, text.total_bytes(call.rows), append, text, replacement);
}

Column character_of_code(const FunctionCall& call) {
  ArgumentValues<int64_t> codes(call.arguments[0]);
  return build_text(call, call.rows, [&](int64_t row, TextBuilder& builder) {
    int64_t code = codes[row];
    if (code <= 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) throw UserError(fmt::format("there is no character {}", code));
    builder.commit(write_code_point(static_cast<uint32_t>(code), builder.reserve(4)));
  });
}

Column hexadecimal(const FunctionCall& call) {
  if (call.arguments[0].column.type().kind() == TypeKind::Integer) {
    ArgumentValues<int32_t> values(call.arguments[0]);
    return build_text(call, call.rows * 8,
                      [&](int64_t row, TextBuilder& builder) { append_hexadecimal(builder, static_cast<uint32_t>(values[row])); });
  }
  ArgumentValues<int64_t> values(call.arguments[0]);
  return build_text(call, call.rows * 16,
                    [&](int64_t row, TextBuilder& builder) { append_hexadecimal(builder, static_cast<uint64_t>(values[row])); });
}

Column md5_of_text(const FunctionCall& call) {
  ArgumentText text(call.arguments[0]);
  auto append = [&](int64_t row, TextBuilder& builder, auto& poll) {
    for (uint8_t byte : md5_of(text[row], poll)) {
      builder.append("0123456789abcdef"[byte >> 4]);
      builder.append("0123456789abcdef"[byte & 15]);
    }
  };
  return build_polled_text(call, call.rows * 32, append, text);
}

}  // namespace pistachio
