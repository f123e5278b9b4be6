// A compiled regular expression of RE2's syntax: Perl's without look-around and back-references. Matching takes time linear in the text and
// bounded memory, whatever the pattern. Immutable; safe to use from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace pistachio {

class RegularExpression {
 public:
  struct Options {
    bool ignores_case = false;
    bool is_literal = false;  // the pattern is plain text
    bool dot_matches_newline = false;
    bool one_line = true;       // ^ and $ match at the ends of the text only
    bool replaces_all = false;  // for replace()
  };

  struct Match {
    size_t begin = 0;  // bytes
    size_t end = 0;
  };

  // Throws UserError.
  RegularExpression(std::string_view pattern, Options options);
  ~RegularExpression();
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;

  // PostgreSQL's and DuckDB's letters: c i l m n p s g. Throws UserError.
  static Options parse_options(std::string_view letters);
  // SQL's SIMILAR TO, as a regular expression for the whole text. Throws UserError.
  static std::string from_similar(std::string_view pattern, char escape);

  bool matches_part(std::string_view text) const;
  bool matches_whole(std::string_view text) const;
  // The leftmost match from byte `start` on.
  std::optional<Match> find(std::string_view text, size_t start) const;
  // What the group of the leftmost match covers, 0: all of it; nullopt without a match, empty if the group took no part in it.
  std::optional<std::string_view> extract(std::string_view text, int group) const;
  int groups() const;
  // `replacement`: \1 to \9 are groups, \0 and \& the match. Appends to `out`. Throws UserError.
  void replace(std::string_view text, std::string_view replacement, std::string& out) const;
  // Number of matches without overlap.
  int64_t count(std::string_view text) const;
  // The text between the matches, by place from 1 on, or from the end on if negative; empty if there is no such piece.
  std::string_view piece(std::string_view text, int64_t place) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
  bool replaces_all_ = false;
};

}  // namespace pistachio
