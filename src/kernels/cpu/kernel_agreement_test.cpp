// Property test of all kernels: calls each operation of the table with random arguments on its composite body, the reference, and on the
// tuned body of each available instruction set or device. Results must be equal, and so must the kind of error. Damaged streams are treated
// the same way; under AddressSanitizer neither body may read outside its page.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/cpu/instruction_set_guard.h"
#include "kernels/cpu/kernel_cases.h"
#include "kernels/ops/deferred_checks.h"
#include "kernels/ops/instruction_set.h"
#include "kernels/ops/kernel_mode.h"
#include "kernels/ops/rle_decode.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio::kernels {
namespace {

using kernel_cases::Call;
using kernel_cases::Draw;
using kernel_cases::Operation;

struct Outcome {
  std::string error;  // class of the error; empty if there is a result
  std::string message;
  std::vector<at::Tensor> tensors;
};

Outcome run(const Call& call) {
  try {
    return {"", "", call()};
  } catch (const DataError& error) {
    return {"DataError", error.what(), {}};
  } catch (const UserError& error) {
    return {"UserError", error.what(), {}};
  } catch (const std::exception& error) {
    return {"another error", error.what(), {}};
  }
}

// Equality with NaN equal to NaN; doubles may differ in the last bits, since inexact sums depend on the order of additions.
bool same(const at::Tensor& left, const at::Tensor& right) {
  if (left.scalar_type() != right.scalar_type() || left.sizes() != right.sizes() || left.device() != right.device()) return false;
  if (!left.is_floating_point()) return at::equal(left, right);
  return at::allclose(left, right, /*rtol=*/left.scalar_type() == at::kDouble ? 1e-12 : 0, /*atol=*/0, /*equal_nan=*/true);
}

void expect_same(const Outcome& reference, const Outcome& tuned) {
  ASSERT_EQ(reference.error, tuned.error) << "reference: " << reference.message << ", tuned: " << tuned.message;
  ASSERT_EQ(reference.tensors.size(), tuned.tensors.size());
  for (size_t i = 0; i < reference.tensors.size(); ++i) {
    ASSERT_TRUE(same(reference.tensors[i], tuned.tensors[i])) << "result " << i << " differs, first elements:\n"
                                                              << reference.tensors[i].slice(0, 0, 20) << "\n"
                                                              << tuned.tensors[i].slice(0, 0, 20);
  }
}

void compare_bodies(const Call& call, at::Device device) {
  Outcome reference;
  {
    KernelModeGuard composite(KernelMode::Composite);
    reference = run(call);
  }
  ASSERT_NE(reference.error, "another error") << reference.message;
  if (!device.is_cpu()) {
    expect_same(reference, run(call));
    if (testing::Test::HasFatalFailure()) return;
    SCOPED_TRACE("with deferred checks");
    expect_same(reference, run([&] { return with_deferred_checks(device, call); }));
    return;
  }
  for (const int64_t instruction_set : available_instruction_sets()) {
    SCOPED_TRACE(hwy::TargetName(instruction_set));
    InstructionSetGuard guard(instruction_set);
    expect_same(reference, run(call));
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<at::Device> devices() {
  std::vector<at::Device> all{at::kCPU};
  if (at::globalContext().hasCUDA()) all.emplace_back(at::kCUDA);
  return all;
}

std::vector<Operation> all_operations() {
  std::vector<Operation> all = kernel_cases::decode_operations();
  for (Operation& operation : kernel_cases::value_operations()) all.push_back(std::move(operation));
  for (Operation& operation : kernel_cases::text_operations()) all.push_back(std::move(operation));
  for (Operation& operation : kernel_cases::relational_operations()) all.push_back(std::move(operation));
  for (Operation& operation : kernel_cases::range_operations()) all.push_back(std::move(operation));
  return all;
}

class KernelAgreement : public testing::TestWithParam<Operation> {
 protected:
  // As in the engine's workers, where ATen's own threads would only interfere.
  static void SetUpTestSuite() { at::set_num_threads(1); }

  void compare_all(const std::function<Call(Draw&)>& draw_call, const std::vector<int64_t>& sizes, int seeds) {
    compare_on(devices(), draw_call, sizes, seeds);
  }

  void compare_on(const std::vector<at::Device>& devices, const std::function<Call(Draw&)>& draw_call, const std::vector<int64_t>& sizes,
                  int seeds) {
    for (const at::Device device : devices) {
      for (const int64_t rows : sizes) {
        for (int seed = 0; seed < seeds; ++seed) {
          SCOPED_TRACE(testing::Message() << device.str() << ", " << rows << " rows, seed " << seed);
          test_streams::Random random(static_cast<uint64_t>(seed) * 1000003 + static_cast<uint64_t>(rows));
          Draw draw{random, rows, device};
          compare_bodies(draw_call(draw), device);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
};

TEST_P(KernelAgreement, OnFewRows) {
  compare_all(GetParam().draw, {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65}, 40);
}

TEST_P(KernelAgreement, OnManyRows) {
  compare_all(GetParam().draw, {100, 1000, 5000}, 30);
}

// More than a GPU block keeps in shared memory.
TEST_P(KernelAgreement, OnLongPages) {
  if (!GetParam().draw_bad) GTEST_SKIP() << "reads no pages";
  compare_all(GetParam().draw, {60000}, 12);
  compare_all(GetParam().draw_bad, {60000}, 12);
}

TEST_P(KernelAgreement, OnMillionsOfRows) {
  compare_all(GetParam().draw, {2000000}, 1);
}

TEST_P(KernelAgreement, OnDamagedBytes) {
  if (!GetParam().draw_bad) GTEST_SKIP() << "reads no bytes of files";
  compare_all(GetParam().draw_bad, {1, 5, 20, 100, 600}, 300);
}

// A short round for compute-sanitizer, which slows every kernel down a hundredfold: each body of a GPU with one row, with a warp and a
// row, and with several blocks.
TEST_P(KernelAgreement, OnGpuBriefly) {
  if (!at::globalContext().hasCUDA()) GTEST_SKIP() << "no GPU";
  compare_on({at::kCUDA}, GetParam().draw, {0, 1, 33, 3000}, 2);
  if (GetParam().draw_bad && !HasFatalFailure()) compare_on({at::kCUDA}, GetParam().draw_bad, {5, 600}, 10);
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelAgreement, testing::ValuesIn(all_operations()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(KernelModeTest, HoldsForItsScopeAndThread) {
  EXPECT_EQ(kernel_mode(), KernelMode::Tuned);
  {
    KernelModeGuard guard(KernelMode::Composite);
    EXPECT_EQ(kernel_mode(), KernelMode::Composite);
  }
  EXPECT_EQ(kernel_mode(), KernelMode::Tuned);
}

TEST(KernelFrontDoorTest, RefusesWrongArguments) {
  const at::Tensor bytes = at::zeros({4}, at::kByte);
  EXPECT_THROW(rle_decode(bytes, at::tensor({0, 5, 1, 0, 0, 0, 1}, at::kLong).view({1, 7})), InternalError);   // end past the bytes
  EXPECT_THROW(rle_decode(bytes, at::tensor({0, 4, 33, 0, 0, 0, 1}, at::kLong).view({1, 7})), InternalError);  // bit width
  EXPECT_THROW(rle_decode(bytes, at::tensor({0, 4, 1, 0, 0, -1, 1}, at::kLong).view({1, 7})), InternalError);  // negative skip
  EXPECT_THROW(rle_decode(bytes, at::tensor({0, 4, 1, 0, -1, 0, 1}, at::kLong).view({1, 7})), InternalError);  // negative base
  EXPECT_EQ(rle_decode(bytes, at::Tensor()).numel(), 0);
}

TEST(InstructionSetTest, FollowsTheChoice) {
  for (const int64_t instruction_set : available_instruction_sets()) {
    InstructionSetGuard guard(instruction_set);
    EXPECT_EQ(chosen_instruction_set(), hwy::TargetName(instruction_set));
  }
}

}  // namespace
}  // namespace pistachio::kernels
