// Reference body of text_match: tracks all positions that the pattern can reach after each of its pieces; slow and simple, on any device.

#include <string_view>
#include <vector>

#include "kernels/ops/tensor_functions.h"

#include "kernels/ops/body_table.h"

namespace pistachio::kernels::composite {

namespace {

class ReachablePlaces {
 public:
  explicit ReachablePlaces(std::string_view text) : text_(text), reached_(text.size() + 1, false) { reached_[0] = true; }

  void pass_any_text() {
    bool before = false;
    for (size_t place = 0; place <= text_.size(); ++place) {
      before = before || reached_[place];
      reached_[place] = reached_[place] || (before && is_boundary(place));
    }
  }

  void pass_character() {
    std::vector<bool> next(reached_.size(), false);
    for (size_t place = 0; place < text_.size(); ++place) {
      if (!reached_[place]) continue;
      size_t behind = place + 1;
      while (!is_boundary(behind)) ++behind;
      next[behind] = true;
    }
    reached_ = std::move(next);
  }

  void pass_literal(std::string_view literal) {
    std::vector<bool> next(reached_.size(), false);
    for (size_t place = 0; place + literal.size() <= text_.size(); ++place) {
      if (reached_[place] && text_.substr(place, literal.size()) == literal) next[place + literal.size()] = true;
    }
    reached_ = std::move(next);
  }

  bool is_at_end() const { return reached_.back(); }

 private:
  bool is_boundary(size_t place) const {
    return place == 0 || place == text_.size() || (static_cast<unsigned char>(text_[place]) & 0xC0U) != 0x80U;
  }

  std::string_view text_;
  std::vector<bool> reached_;
};

at::Tensor text_match(const at::Tensor& bytes, const at::Tensor& begins, const at::Tensor& ends, const at::Tensor& pieces, std::string_view literals,
                      int64_t segments) {
  const at::Tensor all = bytes.cpu(), first = begins.cpu(), last = ends.cpu();
  at::Tensor result = at::empty({first.numel()}, at::kBool);
  for (int64_t row = 0; row < first.numel(); ++row) {
    const int64_t begin = first.const_data_ptr<int64_t>()[row], end = last.const_data_ptr<int64_t>()[row];
    ReachablePlaces places({reinterpret_cast<const char*>(all.const_data_ptr<uint8_t>()) + begin, static_cast<size_t>(end - begin)});
    int64_t segment = 0;
    std::string_view rest = literals;
    auto go_to = [&](int64_t wanted) {
      for (; segment < wanted; ++segment) places.pass_any_text();
    };
    for (int64_t i = 0; i < pieces.size(0); ++i) {
      const int64_t* piece = pieces.const_data_ptr<int64_t>() + i * 3;
      go_to(piece[0]);
      for (int64_t skipped = 0; skipped < piece[1]; ++skipped) places.pass_character();
      places.pass_literal(rest.substr(0, static_cast<size_t>(piece[2])));
      rest.remove_prefix(static_cast<size_t>(piece[2]));
    }
    go_to(segments - 1);
    result.mutable_data_ptr<bool>()[row] = places.is_at_end();
  }
  return result.to(bytes.device());
}

}  // namespace

REGISTER_BODY(Composite, "text_match", text_match);

}  // namespace pistachio::kernels::composite
