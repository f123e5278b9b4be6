// Column dtypes as CUDA kernels see them. No torch headers: nvcc compiles this too.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cuda {

enum class ValueKind { UInt8, Int8, Int16, Int32, Int64, Float, Double, Wide };  // booleans are UInt8; Wide is two int64 words

// A 128-bit number or any 16 bytes. Only word-aligned: a view of a column may start at an odd word.
struct WideWords {
  int64_t low, high;
};

// Calls run(T{}) with the type of `kind`.
template <typename Run>
auto with_type(ValueKind kind, const Run& run) {
  switch (kind) {
    case ValueKind::UInt8: return run(uint8_t{});
    case ValueKind::Int8: return run(int8_t{});
    case ValueKind::Int16: return run(int16_t{});
    case ValueKind::Int32: return run(int32_t{});
    case ValueKind::Int64: return run(int64_t{});
    case ValueKind::Float: return run(float{});
    case ValueKind::Double: return run(double{});
    default: return run(WideWords{});
  }
}

// For kernels that only move values: calls run with an unsigned type of the same size as `kind`.
template <typename Run>
auto with_size(ValueKind kind, const Run& run) {
  switch (kind) {
    case ValueKind::UInt8:
    case ValueKind::Int8: return run(uint8_t{});
    case ValueKind::Int16: return run(uint16_t{});
    case ValueKind::Int32:
    case ValueKind::Float: return run(uint32_t{});
    case ValueKind::Int64:
    case ValueKind::Double: return run(uint64_t{});
    default: return run(WideWords{});
  }
}

}  // namespace pistachio::kernels::cuda
