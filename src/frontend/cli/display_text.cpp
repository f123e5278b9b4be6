#include "frontend/cli/display_text.h"

#include <utf8proc.h>

#include <algorithm>

namespace pistachio {

namespace {

struct Character {
  size_t bytes;
  size_t width;
};

// `text` must not be empty.
Character first_character(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) return {1, 1};
  utf8proc_int32_t code = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (length <= 0) return {1, 1};
  return {static_cast<size_t>(length), static_cast<size_t>(std::max(0, utf8proc_charwidth(code)))};
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string cut_to_width(const std::string& text, size_t width) {
  if (display_width(text) <= width) return text;
  size_t shown = 0;
  size_t end = 0;
  while (end < text.size()) {
    const Character character = first_character(std::string_view(text).substr(end));
    if (shown + character.width + 1 > width) break;
    shown += character.width;
    end += character.bytes;
  }
  return text.substr(0, end) + "…";
}

}  // namespace pistachio
