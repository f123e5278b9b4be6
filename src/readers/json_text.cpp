#include "readers/json_text.h"

#include <charconv>
#include <optional>

#include "readers/byte_search.h"

namespace pistachio {

namespace {

const char* end_of_json_nest(const char* at, const char* end) {
  int64_t depth = 0;
  while (at != end) {
    const char byte = *at++;
    if (byte == '"') {
      bool is_escaped = false;
      at = end_of_json_string(at, end, is_escaped);
      if (at == nullptr) return nullptr;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if ((byte == '}' || byte == ']') && --depth == 0) {
      return at;
    }
  }
  return nullptr;
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

const char* end_of_json_string(const char* at, const char* end, bool& is_escaped) {
  while (true) {
    at = find_either(at, end, '"', '\\');
    if (at == end) return nullptr;
    if (*at == '"') return at + 1;
    // What follows a backslash is never the closing quote.
    is_escaped = true;
    if (end - at < 2) return nullptr;
    at += 2;
  }
}

JsonValue read_json_value(const char* at, const char* end) {
  JsonValue value;
  if (at == end) return value;
  if (*at == '"') {
    value.kind = JsonKind::String;
    value.end = end_of_json_string(at + 1, end, value.is_escaped);
    if (value.end != nullptr) value.text = {at + 1, static_cast<size_t>(value.end - at - 2)};
    return value;
  }
  if (*at == '{' || *at == '[') {
    value.kind = JsonKind::Nested;
    value.end = end_of_json_nest(at, end);
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
    if (!is_json_number(value.text)) return value;
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
