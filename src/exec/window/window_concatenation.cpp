#include "exec/window/window_concatenation.h"

#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "expr/text_builder.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Texts in the order of the window, on the host.
class OrderedTexts {
 public:
  OrderedTexts(int expression, const OrderedWindow& window)
      : column_(to_device(decode_dictionary(window.values_in_order(expression)), at::kCPU)),
        text_({column_, false}),
        validity_(column_.has_validity() ? column_.validity().contiguous() : at::Tensor()),
        valid_(validity_.defined() ? validity_.const_data_ptr<bool>() : nullptr) {}

  bool has(int64_t place) const { return valid_ == nullptr || valid_[place]; }
  std::string_view operator[](int64_t place) const { return text_[place]; }
  int64_t bytes() const { return text_.total_bytes(column_.rows()); }

 private:
  Column column_;
  ArgumentText text_;
  at::Tensor validity_;
  const bool* valid_;
};

}  // namespace

Column concatenate_partitions(const WindowCall& call, const WindowPlan::CallPlaces& places, const OrderedWindow& window) {
  const OrderedTexts values(places.arguments[0], window);
  const OrderedTexts separators(places.arguments[1], window);
  const at::Tensor ends = window.partitions().ends.to(at::kCPU).contiguous();
  const int64_t* end_of = ends.const_data_ptr<int64_t>();
  at::Tensor has_text = at::zeros({window.rows()}, at::kBool);
  bool* is_text = has_text.mutable_data_ptr<bool>();
  TextBuilder builder(window.rows(), values.bytes() + separators.bytes(), &window.token());
  for (int64_t begin = 0; begin < window.rows();) {
    const int64_t end = end_of[begin];
    for (int64_t place = begin; place < end; ++place) {
      if (!values.has(place)) continue;
      if (is_text[begin] && separators.has(place)) builder.append(separators[place]);
      builder.append(values[place]);
      is_text[begin] = true;
    }
    for (int64_t place = begin; place < end; ++place) builder.end_row();
    begin = end;
  }
  const Column text = builder.finish(call.type);
  const Column made = Column::text(call.type, text.bytes(), text.begins(), text.ends(), has_text);
  return to_device(made, window.places().device());
}

}  // namespace pistachio
