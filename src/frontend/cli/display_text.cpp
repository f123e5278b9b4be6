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
  WorkPoll never(nullptr);
  return display_width(text, never);
}

size_t display_width(std::string_view text, WorkPoll& poll) {
  size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
    poll(static_cast<int64_t>(character.bytes));
  }
  return width;
}

std::string cut_to_width(std::string_view text, size_t width) {
  size_t shown = 0;
  size_t fitting = 0;  // bytes that leave room for the ellipsis
  for (size_t end = 0; end < text.size();) {
    const Character character = first_character(text.substr(end));
    shown += character.width;
    if (shown > width) return std::string(text.substr(0, fitting)) + "…";
    end += character.bytes;
    if (shown < width) fitting = end;
  }
  return std::string(text);
}

}  // namespace pistachio
