#include "frontend/cli/result_output.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "frontend/cli/standard_output.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

// Two connected descriptors; the writing end is a stdio stream.
class ResultOutputTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(GetParam() ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) : ::pipe(ends.data()), 0);
    reader_ = ends[0];
    stream_.reset(::fdopen(ends[1], "w"));
    output_ = std::make_unique<ResultOutput>(stream_.get());
  }
  void TearDown() override { close_reader(); }

  void close_reader() {
    if (reader_ >= 0) ::close(reader_);
    reader_ = -1;
  }
  std::string read_all(size_t count) const {
    std::string text;
    std::array<char, 1000> piece;
    while (text.size() < count) {
      ssize_t got = ::read(reader_, piece.data(), piece.size());
      if (got <= 0) break;
      text.append(piece.data(), static_cast<size_t>(got));
    }
    return text;
  }

  int reader_ = -1;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_{nullptr, std::fclose};
  std::unique_ptr<ResultOutput> output_;
};

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_P(ResultOutputTest, SlowReaderReceivesEverythingInOrder) {
  std::string text = numbered_lines(300'000);
  std::thread writer([&] {
    std::fputs("before\n", stream_.get());
    output_->write(text);
  });
  EXPECT_EQ(read_all(text.size() + 7), "before\n" + text);
  writer.join();
  EXPECT_FALSE(output_->is_inside_line());
}

TEST_P(ResultOutputTest, DeadlineEndsWaitForStalledReader) {
  CancelSource source({}, std::chrono::steady_clock::now() + 20ms);
  output_->set_token(source.token());
  EXPECT_THROW(output_->write(std::string(8 << 20, 'x')), Cancelled);
  EXPECT_TRUE(output_->is_inside_line());
}

TEST_P(ResultOutputTest, CancelWakesWaitForStalledReader) {
  CancelSource source;
  output_->set_token(source.token());
  std::thread canceller([&] {
    // The writer fills the pipe before or after this; it must stop in both cases.
    read_all(1);
    source.cancel("enough");
  });
  EXPECT_THROW(output_->write(std::string(8 << 20, 'x')), Cancelled);
  canceller.join();
}

TEST_P(ResultOutputTest, CancelledWriteUsesFreeRoom) {
  CancelSource source;
  source.cancel("enough");
  output_->set_token(source.token());
  output_->write("end\n");
  EXPECT_EQ(read_all(4), "end\n");
}

TEST_P(ResultOutputTest, ClosedReaderThrowsReaderGone) {
  close_reader();
  EXPECT_THROW(output_->write("x"), OutputClosed);
}

INSTANTIATE_TEST_SUITE_P(Readers, ResultOutputTest, testing::Bool(),
                         [](const auto& kind) { return std::string(kind.param ? "Socket" : "Pipe"); });

TEST(ResultOutputToDevice, FullDeviceIsUserError) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> full(std::fopen("/dev/full", "w"), std::fclose);
  ResultOutput output(full.get());
  EXPECT_THROW(output.write(std::string(1 << 20, 'x')), UserError);
}

}  // namespace
}  // namespace pistachio
