// Column dtypes as the inner loops see them, and the dispatch from a kind to its C++ type.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

enum class ValueKind { UInt8, Int8, Int16, Int32, Int64, Float, Double };  // booleans are UInt8

// Calls run(T{}) with the type of `kind`; inlined, so that it is compiled for the caller's instruction set.
template <typename Run>
[[gnu::always_inline]] inline auto with_type(ValueKind kind, const Run& run) {
  switch (kind) {
    case ValueKind::UInt8: return run(uint8_t{});
    case ValueKind::Int8: return run(int8_t{});
    case ValueKind::Int16: return run(int16_t{});
    case ValueKind::Int32: return run(int32_t{});
    case ValueKind::Int64: return run(int64_t{});
    case ValueKind::Float: return run(float{});
    default: return run(double{});
  }
}

}  // namespace pistachio::kernels::cpu
