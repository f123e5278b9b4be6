#include "readers/json_text.h"

#include <bit>
#include <charconv>
#include <optional>
#include <vector>

#include "readers/byte_search.h"

namespace pistachio {

namespace {

// The first quote, backslash or control character; `end` if there is none.
const char* end_of_plain_text(const char* at, const char* end) {
  constexpr unsigned char first_printed = 0x20;
  for (; end - at >= 8; at += 8) {
    const uint64_t word = load_eight(at);
    // A borrow marks only bytes behind a control character: the first mark is right.
    const uint64_t controls = (word - repeated_byte(first_printed)) & ~word & kByteTops;
    const uint64_t found = zero_bytes(word ^ repeated_byte('"')) | zero_bytes(word ^ repeated_byte('\\')) | controls;
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= first_printed) ++at;
  return at;
}

// Sets the end of the string whose opening quote is before `at`: behind its closing quote.
void find_end_of_string(const char* at, const char* end, JsonValue& value) {
  while (true) {
    at = end_of_plain_text(at, end);
    if (at == end) return;
    if (*at == '"') {
      value.end = at + 1;
      return;
    }
    if (*at != '\\') {
      value.damage = at;
      return;
    }
    // What follows a backslash is never the closing quote.
    value.is_escaped = true;
    if (end - at < 2) return;
    at += 2;
  }
}

// The brackets that are open: a bit each, as nesting may be deep.
class OpenBrackets {
 public:
  void open(bool is_object) {
    if (depth_ > 0 && depth_ % 64 == 0) outer_.push_back(inner_);
    inner_ = inner_ << 1 | (is_object ? 1U : 0U);
    ++depth_;
  }
  // False if the innermost one is of the other kind.
  bool close(bool is_object) {
    if ((inner_ & 1U) != (is_object ? 1U : 0U)) return false;
    inner_ >>= 1;
    --depth_;
    if (depth_ > 0 && depth_ % 64 == 0) {
      inner_ = outer_.back();
      outer_.pop_back();
    }
    return true;
  }
  bool are_closed() const { return depth_ == 0; }

 private:
  uint64_t inner_ = 0;
  int64_t depth_ = 0;
  std::vector<uint64_t> outer_;
};

// Sets the end of the object or array at `at`.
void find_end_of_nest(const char* at, const char* end, JsonValue& value) {
  OpenBrackets brackets;
  while (at != end) {
    const char byte = *at++;
    if (byte == '"') {
      JsonValue string;
      find_end_of_string(at, end, string);
      value.damage = string.damage;
      if (string.end == nullptr) return;
      at = string.end;
    } else if (byte == '{' || byte == '[') {
      brackets.open(byte == '{');
    } else if (byte == '}' || byte == ']') {
      if (!brackets.close(byte == '}')) {
        value.damage = at - 1;
        return;
      }
      if (!brackets.are_closed()) continue;
      value.end = at;
      return;
    }
  }
}

bool is_json_number(std::string_view text) {
  size_t at = 0;
  auto take_digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (!take_digits()) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!take_digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!take_digits()) return false;
  }
  return at == text.size();
}

std::optional<uint32_t> read_hex_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return parsed.ptr == text.data() + 6 ? std::optional(unit) : std::nullopt;
}

void encode_utf8(uint32_t point, JsonEscape& escape) {
  auto put = [&](uint32_t byte) { escape.bytes[escape.size++] = static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

}  // namespace

JsonValue read_json_value(const char* at, const char* end) {
  JsonValue value;
  if (at == end) return value;
  if (*at == '"') {
    value.kind = JsonKind::String;
    find_end_of_string(at + 1, end, value);
    if (value.end != nullptr) value.text = {at + 1, static_cast<size_t>(value.end - at - 2)};
    return value;
  }
  if (*at == '{' || *at == '[') {
    value.kind = JsonKind::Nested;
    find_end_of_nest(at, end, value);
    if (value.end != nullptr) value.text = {at, static_cast<size_t>(value.end - at)};
    return value;
  }
  const char* stop = at;
  while (stop != end && *stop != ',' && *stop != '}' && *stop != ']' && !is_json_blank(*stop)) ++stop;
  value.text = {at, static_cast<size_t>(stop - at)};
  if (value.text == "true" || value.text == "false") {
    value.kind = JsonKind::Boolean;
  } else if (value.text != "null") {
    value.kind = JsonKind::Number;
    if (!is_json_number(value.text)) {
      if (stop != end) value.damage = at;
      return value;
    }
  }
  value.end = stop;
  return value;
}

JsonEscape read_json_escape(std::string_view text) {
  JsonEscape escape;
  escape.length = text.size() < 2 ? text.size() : 2;
  if (text.size() < 2) {
    escape.bytes[escape.size++] = '\\';
    return escape;
  }
  const std::optional<uint32_t> unit = read_hex_unit(text);
  if (!unit) {
    constexpr std::string_view letters = "bfnrt";
    constexpr std::string_view meanings = "\b\f\n\r\t";
    const size_t place = letters.find(text[1]);
    escape.bytes[escape.size++] = place == std::string_view::npos ? text[1] : meanings[place];
    return escape;
  }
  escape.length = 6;
  const bool is_high = *unit >= 0xD800 && *unit < 0xDC00;
  const bool is_low = *unit >= 0xDC00 && *unit < 0xE000;
  uint32_t point = is_high || is_low ? 0xFFFD : *unit;
  if (is_high) {
    const std::optional<uint32_t> second = read_hex_unit(text.substr(6));
    if (second && *second >= 0xDC00 && *second < 0xE000) {
      point = 0x10000 + ((*unit - 0xD800) << 10) + (*second - 0xDC00);
      escape.length = 12;
    }
  }
  encode_utf8(point, escape);
  return escape;
}

}  // namespace pistachio
