#include "cluster/remote_error.h"

#include <gtest/gtest.h>

#include <new>

#include "base/error.h"

namespace pistachio {
namespace {

TEST(RemoteErrorTest, KeepsItsClassAndItsText) {
  DataError damaged("a page is damaged", {.file = "f.parquet", .row_group = 3, .column = "c", .offset = 7});
  RemoteError travelled = RemoteError::of_bytes(RemoteError::of(std::make_exception_ptr(damaged), 2).to_bytes(), 2);
  try {
    travelled.raise();
  } catch (const DataError& error) {
    EXPECT_EQ(error.message(), "f.parquet, row group 3, column c, offset 7: a page is damaged (on rank 2)");
  }
  EXPECT_THROW(RemoteError::of(std::make_exception_ptr(UserError("wrong", 5)), 1).raise(), UserError);
  EXPECT_THROW(RemoteError::of(std::make_exception_ptr(OutOfMemory("full")), 1).raise(), OutOfMemory);
}

TEST(RemoteErrorTest, FailedAllocationBecomesOutOfMemory) {
  RemoteError error = RemoteError::of(std::make_exception_ptr(std::bad_alloc()), 1);
  EXPECT_EQ(error.kind, RemoteError::Kind::OutOfMemory);
  EXPECT_EQ(error.message, "out of memory");
}

TEST(RemoteErrorTest, UnknownExceptionIsInternal) {
  EXPECT_EQ(RemoteError::of(std::make_exception_ptr(5), 1).kind, RemoteError::Kind::Internal);
}

}  // namespace
}  // namespace pistachio
