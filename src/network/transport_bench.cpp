// Bandwidth by message size and round-trip time of a small message, between two transports of this process, each with its own thread. UCX's
// own figures for comparison (the wheel contains the program):
//   UCX_TLS=tcp ucx_perftest & UCX_TLS=tcp ucx_perftest 127.0.0.1 -t ucp_am_bw -s 4194304
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "kernels/ops/tensor_functions.h"
#include "network/job_of_transports.h"

namespace pistachio {
namespace {

class ArrivalCounter : public MessageReceiver {
 public:
  void on_message(int, Message) noexcept override {
    std::lock_guard lock(mutex_);
    count_ += 1;
    if (count_ >= wanted_) changed_.notify_one();
  }
  void on_peer_lost(int, std::string why) noexcept override {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();  // otherwise the benchmark would hang
  }

  void wait_for(int64_t more) {
    std::unique_lock lock(mutex_);
    wanted_ = waited_for_ + more;
    changed_.wait(lock, [&] { return count_ >= wanted_; });
    waited_for_ = wanted_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t count_ = 0;
  int64_t wanted_ = 0;
  int64_t waited_for_ = 0;
};

class EchoReceiver : public MessageReceiver {
 public:
  explicit EchoReceiver(Transport& transport) : transport_(transport) {}
  void on_message(int source, Message message) noexcept override { transport_.send(source, std::move(message)); }
  void on_peer_lost(int, std::string) noexcept override {}

 private:
  Transport& transport_;
};

void bandwidth(benchmark::State& state, TransportKind kind) {
  int64_t bytes = state.range(0);
  int64_t messages = std::max<int64_t>(8, std::min<int64_t>(512, (int64_t{64} << 20) / bytes));
  ArrivalCounter receiver;
  JobOfTransports job(kind, 2);
  job[1].start(receiver);
  at::Tensor payload = at::zeros({bytes}, at::kByte);
  for (auto _ : state) {
    for (int64_t i = 0; i < messages; ++i) job[0].send(1, {7, "", payload});
    receiver.wait_for(messages);
  }
  state.SetBytesProcessed(state.iterations() * messages * bytes);
  job[1].stop();  // first, or it would lose its peer
  job.stop_all();
}

void round_trip(benchmark::State& state, TransportKind kind) {
  ArrivalCounter receiver;
  JobOfTransports job(kind, 2);
  EchoReceiver echo(job[1]);
  job[0].start(receiver);
  job[1].start(echo);
  at::Tensor payload = at::zeros({state.range(0)}, at::kByte);
  for (auto _ : state) {
    job[0].send(1, {7, "", payload});
    receiver.wait_for(1);
  }
  job.stop_all();
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(4 << 10, 64 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(bandwidth, loopback, TransportKind::Loopback)->Apply(sizes);
BENCHMARK_CAPTURE(bandwidth, ucx_tcp, TransportKind::UcxTcp)->Apply(sizes);
BENCHMARK_CAPTURE(bandwidth, ucx_shared_memory, TransportKind::UcxSharedMemory)->Apply(sizes);
BENCHMARK_CAPTURE(round_trip, ucx_tcp, TransportKind::UcxTcp)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(round_trip, ucx_shared_memory, TransportKind::UcxSharedMemory)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pistachio

BENCHMARK_MAIN();
