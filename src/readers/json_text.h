// Walks JSON text without building a tree: where a value ends, what escapes mean. Pure functions on text that may be damaged: they never
// read past `end`, and return null where the text is no JSON. Nesting is counted, not recursed into.
#pragma once

#include <cstdint>
#include <string_view>

namespace pistachio {

inline bool is_json_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

inline const char* skip_json_blanks(const char* at, const char* end) {
  while (at != end && is_json_blank(*at)) ++at;
  return at;
}

enum class JsonKind : uint8_t { Null, Boolean, Number, String, Nested };

struct JsonValue {
  JsonKind kind = JsonKind::Null;
  bool is_escaped = false;  // a string with escapes
  std::string_view text;    // a string without its quotes; others as written
  const char* end = nullptr;
  const char* damage = nullptr;  // where the text is no JSON, whatever follows
};

// The value at `at`, which is no blank. Its `end` is null if the text is no JSON value, or is cut off: then `damage` is null too. Of what
// is inside of brackets, only strings and brackets are checked.
JsonValue read_json_value(const char* at, const char* end);

// One code point or character of a string whose escapes are resolved.
struct JsonEscape {
  char bytes[4] = {};
  size_t size = 0;
  size_t length = 0;  // of the escape in the text
};
// The escape at the beginning of `text`, a backslash. An unknown one stands for itself; half of a pair becomes U+FFFD.
JsonEscape read_json_escape(std::string_view text);

template <typename Append>
void unescape_json(std::string_view text, const Append& append) {
  while (true) {
    const size_t place = text.find('\\');
    append(text.substr(0, place));
    if (place == std::string_view::npos) return;
    const JsonEscape escape = read_json_escape(text.substr(place));
    append(std::string_view(escape.bytes, escape.size));
    text.remove_prefix(place + escape.length);
  }
}

}  // namespace pistachio
