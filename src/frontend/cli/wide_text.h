// UTF-8 to and from wide characters (code points), independent of the locale. Invalid bytes and code points become U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace pistachio {

std::wstring to_wide(std::string_view text);
std::string to_utf8(std::wstring_view text);

}  // namespace pistachio
