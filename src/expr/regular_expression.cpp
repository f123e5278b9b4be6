// See regular_expression.h.
#include "expr/regular_expression.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"

namespace pistachio {

namespace {

// A compiled program beyond this is refused: x{1000}{1000}.
constexpr int64_t kProgramBytes = 8 << 20;
constexpr int kMaxGroups = 10;

re2::StringPiece piece_of(std::string_view text) {
  return {text.data(), text.size()};
}

// Where the next search begins behind an empty match: a character further.
size_t behind_character(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

// Calls visit(begin, end) for the matches without overlap, from left to right, until it returns false.
template <typename Visit>
void for_each_match(const RegularExpression& expression, std::string_view text, const Visit& visit) {
  size_t start = 0;
  std::optional<size_t> end_before;
  while (start <= text.size()) {
    const auto match = expression.find(text, start);
    if (!match) return;
    const bool is_empty = match->begin == match->end;
    // An empty match right behind another match does not count.
    if (!(is_empty && end_before == match->begin)) {
      if (!visit(*match)) return;
      end_before = match->end;
    }
    start = is_empty ? behind_character(text, match->end) : match->end;
  }
}

}  // namespace

RegularExpression::RegularExpression(std::string_view pattern, Options options) : replaces_all_(options.replaces_all) {
  re2::RE2::Options own;
  own.set_log_errors(false);
  own.set_case_sensitive(!options.ignores_case);
  own.set_literal(options.is_literal);
  own.set_dot_nl(options.dot_matches_newline);
  own.set_one_line(options.one_line);
  own.set_max_mem(kProgramBytes);
  const bool is_bytes = std::any_of(pattern.begin(), pattern.end(), [](char c) { return c == '\0'; });
  if (is_bytes) throw UserError("a regular expression must not contain a zero byte");
  const std::string written = options.one_line ? std::string(pattern) : fmt::format("(?m){}", pattern);
  compiled_ = std::make_unique<re2::RE2>(piece_of(written), own);
  if (!compiled_->ok()) throw UserError(fmt::format("invalid regular expression: {}", compiled_->error()));
}

RegularExpression::~RegularExpression() = default;
RegularExpression::RegularExpression(RegularExpression&&) noexcept = default;
RegularExpression& RegularExpression::operator=(RegularExpression&&) noexcept = default;

RegularExpression::Options RegularExpression::parse_options(std::string_view letters) {
  Options options;
  for (char letter : letters) {
    switch (letter) {
      case 'c': options.ignores_case = false; break;
      case 'i': options.ignores_case = true; break;
      case 'l': options.is_literal = true; break;
      case 'm':
      case 'n':
      case 'p': options.one_line = false; break;
      case 's': options.dot_matches_newline = true; break;
      case 'g': options.replaces_all = true; break;
      default: throw UserError(fmt::format("unknown option {} of a regular expression: there are c, g, i, l, m, n, p and s", letter));
    }
  }
  return options;
}

std::string RegularExpression::from_similar(std::string_view pattern, char escape) {
  constexpr std::string_view kept = "|*+?{}()[]";
  std::string made = "(?s)(?:";
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (escape != '\0' && c == escape) {
      if (++i == pattern.size()) throw UserError("a SIMILAR TO pattern must not end with its escape character");
      made += re2::RE2::QuoteMeta(piece_of(pattern.substr(i, 1)));
    } else if (in_class) {
      in_class = c != ']';
      if (c == '\\') made += '\\';
      made += c;
    } else if (c == '%') {
      made += ".*";
    } else if (c == '_') {
      made += '.';
    } else if (kept.find(c) != std::string_view::npos) {
      in_class = c == '[';
      // SQL has no lazy or non-capturing forms, so that an opening bracket only groups.
      made += c == '(' ? "(?:" : std::string(1, c);
    } else if (c == '.' || c == '^' || c == '$' || c == '\\') {
      made += '\\';
      made += c;
    } else {
      made += c;
    }
  }
  return made + ")";
}

bool RegularExpression::matches_part(std::string_view text) const {
  return compiled_->Match(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

bool RegularExpression::matches_whole(std::string_view text) const {
  return compiled_->Match(piece_of(text), 0, text.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
}

std::optional<RegularExpression::Match> RegularExpression::find(std::string_view text, size_t start) const {
  re2::StringPiece match;
  // The text before `start` remains context of ^ and \b.
  if (!compiled_->Match(piece_of(text), start, text.size(), re2::RE2::UNANCHORED, &match, 1)) return std::nullopt;
  const auto begin = static_cast<size_t>(match.data() - text.data());
  return Match{begin, begin + match.size()};
}

int RegularExpression::groups() const {
  return compiled_->NumberOfCapturingGroups();
}

std::optional<std::string_view> RegularExpression::extract(std::string_view text, int group) const {
  std::vector<re2::StringPiece> parts(static_cast<size_t>(group) + 1);
  if (!compiled_->Match(piece_of(text), 0, text.size(), re2::RE2::UNANCHORED, parts.data(), group + 1)) return std::nullopt;
  const re2::StringPiece& part = parts.back();
  return part.data() == nullptr ? std::string_view() : std::string_view(part.data(), part.size());
}

void RegularExpression::replace(std::string_view text, std::string_view replacement, std::string& out) const {
  std::array<re2::StringPiece, kMaxGroups> parts;
  const int known = std::min(groups(), kMaxGroups - 1);
  size_t copied = 0;
  for_each_match(*this, text, [&](Match match) {
    out.append(text.substr(copied, match.begin - copied));
    // The match itself does not give its groups: match again, exactly there.
    compiled_->Match(piece_of(text), match.begin, text.size(), re2::RE2::ANCHOR_START, parts.data(), known + 1);
    for (size_t i = 0; i < replacement.size(); ++i) {
      const char c = replacement[i];
      if (c != '\\' || i + 1 == replacement.size()) {
        out += c;
        continue;
      }
      const char next = replacement[++i];
      const int group = next == '&' ? 0 : next >= '0' && next <= '9' ? next - '0' : -1;
      if (group < 0) {
        out += next;
      } else if (group <= known && parts[static_cast<size_t>(group)].data() != nullptr) {
        out.append(parts[static_cast<size_t>(group)].data(), parts[static_cast<size_t>(group)].size());
      }
    }
    copied = match.end;
    return replaces_all_;
  });
  out.append(text.substr(copied));
}

int64_t RegularExpression::count(std::string_view text) const {
  int64_t count = 0;
  for_each_match(*this, text, [&](Match) { return ++count > 0; });
  return count;
}

std::string_view RegularExpression::piece(std::string_view text, int64_t place) const {
  if (place < 0) {
    const int64_t pieces = count(text) + 1;
    place = pieces + place + 1;
  }
  if (place < 1) return {};
  size_t begin = 0;
  int64_t at = 1;
  std::optional<std::string_view> found;
  for_each_match(*this, text, [&](Match match) {
    if (at == place) found = text.substr(begin, match.begin - begin);
    begin = match.end;
    return ++at <= place;
  });
  if (found) return *found;
  return at == place ? text.substr(begin) : std::string_view();
}

}  // namespace pistachio
