// Comparisons on the GPU. Every kernel computes the order of two values, -1, 0 or 1, and looks it up in the accepted orders, so that the
// six comparisons share their code.
#include "kernels/cuda/compare_cuda.h"

#include <type_traits>

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

// Bit 0: accept less; bit 1: equal; bit 2: greater.
class AcceptedOrders {
 public:
  explicit AcceptedOrders(Comparison comparison) : bits_(bits_of(comparison)) {}
  __device__ bool holds(int order) const { return (bits_ >> (order + 1) & 1) != 0; }

 private:
  static int bits_of(Comparison comparison) {
    switch (comparison) {
      case Comparison::Equal: return 2;
      case Comparison::NotEqual: return 5;
      case Comparison::Less: return 1;
      case Comparison::LessEqual: return 3;
      case Comparison::Greater: return 4;
      case Comparison::GreaterEqual: return 6;
    }
    return 0;
  }
  int bits_;
};

template <typename T>
__device__ int order_of(T left, T right) {
  if constexpr (std::is_same_v<T, WideWords>) {
    if (left.high != right.high) return left.high < right.high ? -1 : 1;
    const auto left_low = static_cast<uint64_t>(left.low), right_low = static_cast<uint64_t>(right.low);
    return left_low < right_low ? -1 : left_low > right_low;
  } else {
    if constexpr (std::is_floating_point_v<T>) {  // NaN equals NaN and is greater than every number
      const bool left_nan = left != left, right_nan = right != right;
      if (left_nan || right_nan) return static_cast<int>(left_nan) - static_cast<int>(right_nan);
    }
    return left < right ? -1 : left > right;
  }
}

// Values of type T against a constant of a type that can represent all of them.
template <typename T, typename Constant>
struct AgainstConstant {
  const T* values;
  Constant constant;
  AcceptedOrders accepted;
  __device__ bool operator()(int64_t row) const { return accepted.holds(order_of<Constant>(values[row], constant)); }
};

template <typename T>
struct AgainstColumn {
  const T* left;
  const T* right;
  AcceptedOrders accepted;
  __device__ bool operator()(int64_t row) const { return accepted.holds(order_of(left[row], right[row])); }
};

struct TextAgainstConstant {
  TextColumn column;
  TextConstant constant;
  AcceptedOrders accepted;
  __device__ bool operator()(int64_t row) const { return accepted.holds(order(column[row])); }
  __device__ int order(TextSpan text) const {
    const uint64_t first_key = load_text_key(text, 0);
    if (first_key != constant.first_key) return first_key < constant.first_key ? -1 : 1;
    const uint64_t second_key = load_text_key(text, 8);
    if (second_key != constant.second_key) return second_key < constant.second_key ? -1 : 1;
    return compare_text(text, constant.text, text_constant_key_bytes);  // reads bytes only if both are longer than the keys
  }
};

// For = and <>: most values already differ in length.
struct TextEqualsConstant {
  TextColumn column;
  TextConstant constant;
  bool answer_if_equal;
  __device__ bool operator()(int64_t row) const {
    const TextSpan text = column[row];
    const bool equal = text.length == constant.text.length && load_text_key(text, 0) == constant.first_key &&
                       load_text_key(text, 8) == constant.second_key && compare_text(text, constant.text, text_constant_key_bytes) == 0;
    return equal == answer_if_equal;
  }
};

struct TextAgainstText {
  TextColumn left;
  TextColumn right;
  AcceptedOrders accepted;
  __device__ bool operator()(int64_t row) const { return accepted.holds(compare_text(left[row], right[row])); }
};

}  // namespace

void compare_integers(ValueKind kind, const void* values, int64_t rows, Comparison comparison, int64_t constant, bool* out,
                      cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      map_rows(rows, out, AgainstConstant<T, int64_t>{static_cast<const T*>(values), constant, AcceptedOrders(comparison)}, stream);
    }
  });
}

void compare_floats(ValueKind kind, const void* values, int64_t rows, Comparison comparison, double constant, bool* out,
                    cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_floating_point_v<T>) {
      map_rows(rows, out, AgainstConstant<T, double>{static_cast<const T*>(values), constant, AcceptedOrders(comparison)}, stream);
    }
  });
}

void compare_wide(const void* values, int64_t rows, Comparison comparison, WideWords constant, bool* out, cudaStream_t stream) {
  const AgainstConstant<WideWords, WideWords> test{static_cast<const WideWords*>(values), constant, AcceptedOrders(comparison)};
  map_rows(rows, out, test, stream);
}

void compare_value_columns(ValueKind kind, const void* left, const void* right, int64_t rows, Comparison comparison, bool* out,
                           cudaStream_t stream) {
  with_type(kind, [&](auto type) {
    using T = decltype(type);
    map_rows(rows, out, AgainstColumn<T>{static_cast<const T*>(left), static_cast<const T*>(right), AcceptedOrders(comparison)}, stream);
  });
}

void compare_text_with_constant(const TextColumn& text, int64_t rows, Comparison comparison, const TextConstant& constant, bool* out,
                                cudaStream_t stream) {
  if (comparison == Comparison::Equal || comparison == Comparison::NotEqual) {
    map_rows(rows, out, TextEqualsConstant{text, constant, comparison == Comparison::Equal}, stream);
  } else {
    map_rows(rows, out, TextAgainstConstant{text, constant, AcceptedOrders(comparison)}, stream);
  }
}

void compare_two_texts(const TextColumn& left, const TextColumn& right, int64_t rows, Comparison comparison, bool* out,
                       cudaStream_t stream) {
  map_rows(rows, out, TextAgainstText{left, right, AcceptedOrders(comparison)}, stream);
}

}  // namespace pistachio::kernels::cuda
