// at::Tensor with the at:: functions and operators that the engine calls. <ATen/ATen.h> declares thousands more, and every file that
// includes it pays for them, precompiled or not: the compiler instantiates the templates in their inline bodies again for each file.
#pragma once

// ATen's header of a function includes its context, device guards and IValue, which no caller needs: 1.4 s for each file, precompiled or
// not. Until the #undef below, cmake/light_headers leaves them out.
#define PISTACHIO_TENSOR_DECLARATIONS_ONLY
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#undef PISTACHIO_TENSOR_DECLARATIONS_ONLY

namespace pistachio::kernels {

// at::cat, whose own parameter type needs IValue.
at::Tensor concatenate_tensors(at::TensorList parts, int64_t dimension = 0);

}  // namespace pistachio::kernels
