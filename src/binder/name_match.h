// Case-insensitive name matching. PostgreSQL folds unquoted names to lower case, but files often have columns such as UserID; so a folded
// name without an exact match falls back to a unique case-insensitive match.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pistachio {

inline char fold_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

inline std::string fold_name(std::string_view name) {
  std::string folded(name);
  std::transform(folded.begin(), folded.end(), folded.begin(), fold_letter);
  return folded;
}

// A name with a capital letter was quoted and only matches exactly.
inline bool may_be_unquoted(std::string_view name) {
  return std::none_of(name.begin(), name.end(), [](char letter) { return fold_letter(letter) != letter; });
}

// Whether an unquoted `name` can refer to `other`.
inline bool matches_without_case(std::string_view name, std::string_view other) {
  return name.size() == other.size() &&
         std::equal(name.begin(), name.end(), other.begin(), [](char one, char letter) { return one == fold_letter(letter); });
}

}  // namespace pistachio
