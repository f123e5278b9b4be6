// Real processes: this binary starts itself as further ranks, which are then killed, stopped or left alone. A started rank runs the one
// disabled test below.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "network/message_collector.h"
#include "network/rendezvous.h"
#include "network/ucx_transport.h"

extern char** environ;

namespace pistachio {
namespace {

using namespace std::chrono_literals;

constexpr uint16_t kEcho = 1;
constexpr uint16_t kEnd = 2;
constexpr int kEndedAsAsked = 0;
constexpr int kLostRankZero = 17;

constexpr const char* kTransports = "NETWORK_PROCESS_TEST_TRANSPORTS";

UcxOptions options_for(const JobIdentity& identity, const std::string& transports) {
  UcxOptions options;
  options.rank = identity.rank;
  options.ranks = identity.ranks;
  options.peer_timeout = 3s;
  options.heartbeat_interval = 200ms;
  if (!transports.empty()) options.ucx_settings = {{"TLS", transports}};
  return options;
}

RendezvousOptions meeting_options() {
  return {.timeout = kTestTimeout,
          .secret = JobSecret::from_text("a secret that only these tests have", "test"),
          .version = "test",
          .settings = {}};
}

// Body of a started rank: answers until a message stops it or rank 0 is lost.
class PeerRank : public MessageReceiver {
 public:
  explicit PeerRank(Transport& transport) : transport_(transport) {}

  void on_message(int source, Message message) noexcept override {
    if (message.kind == kEcho)
      transport_.send(source, std::move(message));
    else
      end(kEndedAsAsked);
  }
  void on_peer_lost(int peer, std::string why) noexcept override {
    if (peer == 0) end(kLostRankZero);
    why_ = std::move(why);
  }

  int wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 3 * kTestTimeout, [&] { return status_ >= 0; });
    return status_;
  }

 private:
  void end(int status) {
    std::lock_guard lock(mutex_);
    if (status_ < 0) status_ = status;
    changed_.notify_all();
  }

  Transport& transport_;
  std::string why_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = -1;
};

// Not a test but the program that the tests below start as other ranks; disabled, so that it runs only when requested by name.
TEST(NetworkPeerProcess, DISABLED_IsARankOfAJob) {
  std::optional<JobIdentity> identity = job_identity([](const char* name) -> const char* { return std::getenv(name); });
  const char* transports = std::getenv(kTransports);
  if (!identity || transports == nullptr) GTEST_SKIP() << "started by the tests below";
  Rendezvous rendezvous(*identity, meeting_options());
  UcxTransport transport(options_for(*identity, transports));
  Meeting meeting = rendezvous.meet(transport.address());
  transport.connect(meeting.ranks, meeting.key);
  PeerRank receiver(transport);
  transport.start(receiver);
  int status = receiver.wait();
  transport.stop();
  std::_Exit(status);
}

// Rank 0 is this process; starts the others.
class JobOfProcesses {
 public:
  JobOfProcesses(int ranks, const std::string& transports) {
    JobIdentity identity{.rank = 0, .ranks = ranks, .master_address = "127.0.0.1", .master_port = 0};
    Rendezvous rendezvous(identity, meeting_options());
    for (int rank = 1; rank < ranks; ++rank) processes_.push_back(start_rank(rank, ranks, rendezvous.port(), transports));
    transport_ = std::make_unique<UcxTransport>(options_for(identity, transports));
    meeting_ = rendezvous.meet(transport_->address());
    transport_->connect(meeting_.ranks, meeting_.key);
    transport_->start(receiver_);
  }
  ~JobOfProcesses() {
    if (transport_ != nullptr) transport_->stop();
    for (pid_t process : processes_) {
      if (process > 0) kill(process, SIGKILL);
      if (process > 0) waitpid(process, nullptr, 0);
    }
  }

  UcxTransport& transport() { return *transport_; }
  MessageCollector& receiver() { return receiver_; }
  pid_t process(int rank) const { return processes_[rank - 1]; }
  const std::vector<RankInfo>& ranks() const { return meeting_.ranks; }

  // Waits for a rank to exit; returns its exit status.
  int wait_for_end(int rank) {
    int status = 0;
    pid_t& process = processes_[rank - 1];
    auto deadline = std::chrono::steady_clock::now() + kTestTimeout;
    while (waitpid(process, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the rank does not end");
      std::this_thread::sleep_for(10ms);
    }
    process = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  void exchange(int rank, int64_t bytes) {
    size_t before = receiver_.messages().size();
    transport_->send(rank, {kEcho, "echo", numbered_bytes(bytes)});
    MessageCollector::Received answer = receiver_.wait_for_messages(before + 1).back();
    EXPECT_EQ(answer.source, rank);
    EXPECT_TRUE(answer.message.payload.equal(numbered_bytes(bytes)));
  }

 private:
  static pid_t start_rank(int rank, int ranks, int port, const std::string& transports) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    variables.push_back("RANK=" + std::to_string(rank));
    variables.push_back("WORLD_SIZE=" + std::to_string(ranks));
    variables.push_back("MASTER_ADDR=127.0.0.1");
    variables.push_back("MASTER_PORT=" + std::to_string(port));
    variables.push_back(std::string(kTransports) + "=" + transports);
    std::vector<std::string> arguments{"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                                       "--gtest_filter=NetworkPeerProcess.DISABLED_IsARankOfAJob"};
    auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> list;
      for (std::string& text : texts) list.push_back(text.data());
      list.push_back(nullptr);
      return list;
    };
    std::vector<char*> argument_list = pointers(arguments);
    std::vector<char*> variable_list = pointers(variables);
    pid_t process = -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int problem = posix_spawn(&process, arguments[0].c_str(), &actions, nullptr, argument_list.data(), variable_list.data());
    posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) throw std::runtime_error("cannot start a rank");
    return process;
  }

  MessageCollector receiver_;
  std::vector<pid_t> processes_;
  std::unique_ptr<UcxTransport> transport_;
  Meeting meeting_;
};

class NetworkProcessTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Transports, NetworkProcessTest, testing::Values("tcp", "sm", ""),
                         [](const auto& test) { return test.param.empty() ? std::string("default") : test.param; });

TEST_P(NetworkProcessTest, RanksExchangeMessagesAndLeave) {
  JobOfProcesses job(3, GetParam());
  EXPECT_EQ(job.ranks()[1].pid, job.process(1));
  EXPECT_EQ(job.ranks()[2].host_index, 0);
  for (int64_t bytes : {0, 1'000, 1'000'000, 20'000'000}) {
    for (int rank : {1, 2}) job.exchange(rank, bytes);
  }
  for (int rank : {1, 2}) job.transport().send(rank, {kEnd, "", {}});
  for (const auto& [rank, why] : job.receiver().wait_for_lost(2)) EXPECT_NE(why.find("has left the job"), std::string::npos) << why;
  EXPECT_EQ(job.wait_for_end(1), kEndedAsAsked);
  EXPECT_EQ(job.wait_for_end(2), kEndedAsAsked);
}

TEST_P(NetworkProcessTest, KilledRankIsLostAndOthersContinue) {
  JobOfProcesses job(3, GetParam());
  for (int rank : {1, 2}) job.exchange(rank, 100'000);
  kill(job.process(1), SIGKILL);
  MessageCollector::Lost lost = job.receiver().wait_for_lost(1);
  EXPECT_EQ(lost.front().first, 1);
  std::string name = "rank 1 (host " + job.ranks()[1].host + ", process " + std::to_string(job.process(1)) + ")";
  EXPECT_NE(lost.front().second.find(name), std::string::npos) << lost.front().second;
  job.exchange(2, 5'000'000);
  SentCounter sent;
  job.transport().send(1, {kEcho, "to nobody", {}}, sent.callback());
  sent.wait_for(1);
  EXPECT_NE(sent.error_text().find(name), std::string::npos) << sent.error_text();
  EXPECT_EQ(job.receiver().lost().size(), 1u);
}

TEST_P(NetworkProcessTest, RankKilledUnderTrafficIsLost) {
  JobOfProcesses job(2, GetParam());
  job.exchange(1, 1'000);
  SentCounter sent;
  constexpr int kMessages = 40;
  at::Tensor payload = numbered_bytes(20'000'000);
  for (int i = 0; i < kMessages; ++i) job.transport().send(1, {kEcho, "", payload}, sent.callback());
  job.receiver().wait_for_messages(2);
  kill(job.process(1), SIGKILL);
  EXPECT_EQ(job.receiver().wait_for_lost(1).front().first, 1);
  EXPECT_EQ(sent.wait_for(kMessages), kMessages);
  EXPECT_GT(sent.failed(), 0);
}

TEST_P(NetworkProcessTest, StoppedRankIsLostAndNoticesOnResume) {
  JobOfProcesses job(3, GetParam());
  for (int rank : {1, 2}) job.exchange(rank, 1'000);
  kill(job.process(1), SIGSTOP);
  MessageCollector::Lost lost = job.receiver().wait_for_lost(1);
  EXPECT_EQ(lost.front().first, 1);
  EXPECT_NE(lost.front().second.find("has sent nothing for"), std::string::npos) << lost.front().second;
  job.exchange(2, 1'000);
  std::this_thread::sleep_for(1s);  // longer than the peers' timeout, whatever the phase of their clocks
  kill(job.process(1), SIGCONT);
  EXPECT_EQ(job.wait_for_end(1), kLostRankZero);
  job.exchange(2, 1'000);
  EXPECT_EQ(job.receiver().lost().size(), 1u);
}

}  // namespace
}  // namespace pistachio
