// Behaviour specific to the UCX transport: frames of strangers, limits, checksums, effects on its process.
#include "network/ucx_transport.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "network/frame.h"
#include "network/job_of_transports.h"
#include "network/message_collector.h"
#include "network/ucx_handlers.h"
#include "network/ucx_handles.h"

namespace pistachio {
namespace {

class LogCollector {
 public:
  Logger logger() {
    return Logger(LogLevel::Info, [this](const LogRecord& record) {
      std::lock_guard lock(mutex_);
      lines_.push_back(record.to_line());
    });
  }
  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// Two ranks; rank 0 logs to `log`.
std::vector<UcxOptions> two_ranks(LogCollector& log) {
  std::vector<UcxOptions> options;
  for (int rank = 0; rank < 2; ++rank) options.push_back(test_options(TransportKind::UcxTcp, rank, 2));
  options[0].logger = log.logger();
  return options;
}

std::vector<UcxOptions> ranks_with_limit(int ranks, int64_t link_bandwidth_limit) {
  std::vector<UcxOptions> options;
  for (int rank = 0; rank < ranks; ++rank) {
    options.push_back(test_options(TransportKind::UcxTcp, rank, ranks));
    options.back().link_bandwidth_limit = link_bandwidth_limit;
  }
  return options;
}

// A client that knows a rank's address but not the protocol: sends arbitrary bytes as a frame.
class Stranger {
 public:
  explicit Stranger(const std::string& address) : context_(1, {{"TLS", "tcp"}}), worker_(context_) {
    ucp_ep_params_t parameters{};
    parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
    parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    if (ucx().ucp_ep_create(worker_.get(), &parameters, &endpoint_) != UCS_OK) throw std::runtime_error("no endpoint");
  }
  ~Stranger() {
    ucp_request_param_t parameters{};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
    finish(ucx().ucp_ep_close_nbx(endpoint_, &parameters));
  }

  void send(unsigned handler, const std::string& frame, const std::string& data) {
    ucp_request_param_t parameters{};
    finish(ucx().ucp_am_send_nbx(endpoint_, handler, frame.data(), frame.size(), data.data(), data.size(), &parameters));
    finish(ucx().ucp_ep_flush_nbx(endpoint_, &parameters));
  }

 private:
  void finish(ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return;
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (ucx().ucp_request_check_status(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < deadline)
      ucx().ucp_worker_progress(worker_.get());
    ucx().ucp_request_free(request);
  }

  UcxContext context_;
  UcxWorker worker_;
  ucp_ep_h endpoint_ = nullptr;
};

FrameHeader frame_from_rank_one() {
  FrameHeader header;
  header.tag = frame_tag(JobOfTransports::key(), 1, 0);
  header.source = 1;
  header.kind = 7;
  header.message = 1'000'000;
  return header;
}

TEST(UcxTransportTest, GarbageIsRejectedAndLoggedOnce) {
  LogCollector log;
  MessageCollector receiver;
  JobOfTransports job(two_ranks(log));
  job[0].start(receiver);
  Stranger stranger(job.ranks()[0].address);
  std::mt19937 random(11);
  for (unsigned handler : {kMessageHandler, kHeartbeatHandler, kGoodbyeHandler}) {
    for (size_t length : {0, 1, 63, 64, 65, 4000}) {
      std::string garbage(length, '\0');
      for (char& byte : garbage) byte = static_cast<char>(random());
      stranger.send(handler, garbage, "data");
      stranger.send(handler, garbage, std::string(2'000'000, 'x'));  // by rendezvous
      stranger.send(handler, std::string(length, 'z'), "");
    }
  }
  FrameHeader other_job = frame_from_rank_one();
  other_job.tag += 1;
  for (int i = 0; i < 5; ++i) stranger.send(kMessageHandler, frame_bytes(other_job, ""), "");
  for (int i = 0; i < 5; ++i) stranger.send(kGoodbyeHandler, frame_bytes(other_job, ""), "");
  job[1].send(0, {7, "the job goes on", {}});
  EXPECT_EQ(receiver.wait_for_messages(1).front().message.head, "the job goes on");
  EXPECT_EQ(receiver.messages().size(), 1u);
  EXPECT_EQ(receiver.lost().size(), 0u);
  int about_other_job = 0;
  for (const std::string& line : log.lines()) about_other_job += line.find("another job") != std::string::npos ? 1 : 0;
  EXPECT_EQ(about_other_job, 1);
  job.stop_all();
}

// Malformed frames that only a rank of the job can produce: the connection to that rank is closed.
class DamagedFrameTest : public testing::Test {
 protected:
  std::string refusal_of(const FrameHeader& header, const std::string& head, const std::string& data) {
    LogCollector log;
    MessageCollector receiver;
    JobOfTransports job(two_ranks(log));
    job[0].start(receiver);
    {
      Stranger stranger(job.ranks()[0].address);
      stranger.send(kMessageHandler, frame_bytes(header, head), data);
    }
    MessageCollector::Lost lost = receiver.wait_for_lost(1);
    EXPECT_EQ(lost.front().first, 1);
    EXPECT_EQ(receiver.messages().size(), 0u);
    job.stop_all();
    return lost.front().second;
  }
};

TEST_F(DamagedFrameTest, WrongLengths) {
  FrameHeader header = frame_from_rank_one();
  header.payload_length = int64_t{1} << 40;
  header.piece_length = 4;
  std::string why = refusal_of(header, "", "data");
  EXPECT_NE(why.find("was closed: a frame is damaged"), std::string::npos) << why;
  EXPECT_NE(why.find(test_rank(1, "").to_string()), std::string::npos) << why;
}

TEST_F(DamagedFrameTest, WrongChecksum) {
  FrameHeader header = frame_from_rank_one();
  header.payload_length = header.piece_length = 4;
  header.checksum = 12345;
  std::string why = refusal_of(header, "", "data");
  EXPECT_NE(why.find("checksum"), std::string::npos) << why;
}

TEST(UcxTransportTest, JobWithAnotherSecretIsIgnored) {
  LogCollector log;
  MessageCollector receiver;
  JobOfTransports job(two_ranks(log));
  job[0].start(receiver);
  UcxTransport leftover(test_options(TransportKind::UcxTcp, 1, 2));
  std::vector<RankInfo> ranks = job.ranks();
  ranks[1].address = leftover.address();
  leftover.connect(ranks, JobSecret::random());
  SentCounter sent;
  leftover.send(0, {7, "from another job", numbered_bytes(3'000'000)}, sent.callback());
  sent.wait_for(1);
  job[1].send(0, {7, "from this one", {}});
  EXPECT_EQ(receiver.wait_for_messages(1).front().message.head, "from this one");
  leftover.stop();
  job[1].send(0, {7, "still there", {}});
  receiver.wait_for_messages(2);
  EXPECT_EQ(receiver.lost().size(), 0u);
  job.stop_all();
}

// Ports on which this process listens, from /proc.
std::set<int> listening_ports() {
  std::set<std::string> inodes;
  DIR* folder = opendir("/proc/self/fd");
  while (dirent* entry = readdir(folder)) {
    char target[64] = {};
    std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof(target) - 1) > 0 && std::strncmp(target, "socket:[", 8) == 0) {
      inodes.insert(std::string(target + 8, std::strlen(target) - 9));
    }
  }
  closedir(folder);
  std::set<int> ports;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retransmit, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retransmit >> user >> timeout >> inode;
      if (state == "0A" && inodes.count(inode) != 0)
        ports.insert(static_cast<int>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

TEST(UcxTransportTest, GarbageOnTcpPortIsHarmless) {
  LogCollector log;
  MessageCollector receiver;
  JobOfTransports job(two_ranks(log));
  job[0].start(receiver);
  std::set<int> ports = listening_ports();
  ASSERT_FALSE(ports.empty());
  std::mt19937 random(5);
  for (int port : ports) {
    for (size_t length : {0, 1, 8, 100, 100'000}) {
      int connection = socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
        std::string garbage(length, '\0');
        for (char& byte : garbage) byte = static_cast<char>(random());
        [[maybe_unused]] ssize_t sent = ::send(connection, garbage.data(), garbage.size(), MSG_NOSIGNAL);
      }
      close(connection);
    }
  }
  for (int i = 0; i < 100; ++i) job[1].send(0, {7, "the job goes on", numbered_bytes(10'000)});
  receiver.wait_for_messages(100);
  EXPECT_EQ(receiver.lost().size(), 0u);
  job.stop_all();
}

TEST(UcxTransportTest, ChecksumsAndSmallPiecesChangeNothing) {
  LogCollector log;
  std::vector<UcxOptions> options = two_ranks(log);
  for (UcxOptions& one : options) {
    one.checksum = true;
    one.piece_bytes = 1000;
  }
  MessageCollector receiver;
  JobOfTransports job(std::move(options));
  job[1].start(receiver);
  for (int64_t bytes : {0, 1, 999, 1000, 1001, 123'456}) job[0].send(1, {7, std::to_string(bytes), numbered_bytes(bytes)});
  for (const auto& [source, message] : receiver.wait_for_messages(6)) {
    EXPECT_EQ(message.head, std::to_string(message.payload.numel()));
    EXPECT_TRUE(message.payload.equal(numbered_bytes(message.payload.numel())));
  }
  job.stop_all();
}

// In the tests below the limited messages take most of a second and the payload is made before the first is sent, so that a loaded machine
// cannot turn the order around.
TEST(UcxTransportTest, BandwidthLimitDelaysOnlyPayloads) {
  MessageCollector receiver;
  JobOfTransports job(ranks_with_limit(2, 10'000'000));
  job[1].start(receiver);
  const at::Tensor payload = numbered_bytes(2'000'000);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) job[0].send(1, {7, "", payload});
  job[0].send(1, {8, "without payload", {}});
  EXPECT_EQ(receiver.wait_for_messages(5).back().message.kind, 7);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));
  job.stop_all();
}

TEST(UcxTransportTest, UrgentMessagesOvertakeQueuedOnes) {
  MessageCollector receiver;
  JobOfTransports job(ranks_with_limit(2, 10'000'000));
  job[1].start(receiver);
  const at::Tensor large = numbered_bytes(2'000'000), urgent = numbered_bytes(1'000'000);
  for (int i = 0; i < 4; ++i) job[0].send(1, {7, std::to_string(i), large});
  job[0].send(1, {8, "urgent", urgent, 1});
  const std::vector<MessageCollector::Received> received = receiver.wait_for_messages(5);
  for (const auto& [source, message] : received) EXPECT_TRUE(message.payload.equal(message.kind == 8 ? urgent : large));
  EXPECT_EQ(received.back().message.head, "3");
  job.stop_all();
}

TEST(UcxTransportTest, BandwidthLimitCoversAllIncomingMessages) {
  MessageCollector receiver;
  JobOfTransports job(ranks_with_limit(3, 10'000'000));
  job[0].start(receiver);
  const at::Tensor payload = numbered_bytes(500'000);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 8; ++i) {
    for (int sender : {1, 2}) job[sender].send(0, {7, "", payload});
  }
  receiver.wait_for_messages(16);
  // Each of the senders alone would take 350 ms.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(700));
  job.stop_all();
}

TEST(UcxTransportTest, BandwidthLimitIsForOtherHosts) {
  MessageCollector receiver;
  JobOfTransports job(ranks_with_limit(3, 10'000'000), {0, 0, 1});
  job[0].start(receiver);
  const at::Tensor payload = numbered_bytes(2'000'000);
  for (int sender : {2, 1}) {
    for (int i = 0; i < 4; ++i) job[sender].send(0, {7, "", payload});
  }
  // If it held for both, they would take turns, and rank 1 would be last.
  EXPECT_EQ(receiver.wait_for_messages(8).back().source, 2);
  job.stop_all();
}

TEST(UcxTransportTest, RecentMessagesCanBeShown) {
  LogCollector log;
  MessageCollector receiver;
  JobOfTransports job(two_ranks(log));
  job[1].start(receiver);
  SentCounter sent;
  job[0].send(1, {77, "x", numbered_bytes(2047)}, sent.callback());
  receiver.wait_for_messages(1);
  sent.wait_for(1);
  EXPECT_NE(job.ucx(0).recent_messages().find("to 1  kind 77  2.0 KiB"), std::string::npos) << job.ucx(0).recent_messages();
  EXPECT_NE(job.ucx(1).recent_messages().find("from 0  kind 77"), std::string::npos) << job.ucx(1).recent_messages();
  EXPECT_EQ(job.ucx(0).route(0), "");
  EXPECT_EQ(job.ucx(0).route(1).substr(0, 4), "tcp/");
  job.stop_all();
}

TEST(UcxTransportTest, SharedMemoryIsTheDefaultInsideAHost) {
  std::vector<UcxOptions> options(2);
  for (int rank = 0; rank < 2; ++rank) {
    options[rank].rank = rank;
    options[rank].ranks = 2;
  }
  JobOfTransports job(std::move(options));
  EXPECT_NE(job.ucx(0).route(1).find("/memory"), std::string::npos) << job.ucx(0).route(1);
  job.stop_all();
}

TEST(UcxTransportTest, UcxKeepsSignalHandlers) {
  UcxTransport transport(test_options(TransportKind::UcxTcp, 0, 1));
  std::vector<int> signals{SIGHUP, SIGINT, SIGTERM, SIGIO};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they handle these themselves
  signals.insert(signals.end(), {SIGSEGV, SIGBUS, SIGFPE, SIGILL});
#endif
  for (int signal : signals) {
    struct sigaction action {};
    ASSERT_EQ(sigaction(signal, nullptr, &action), 0);
    EXPECT_TRUE(action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) << "signal " << signal;
  }
}

TEST(UcxTransportTest, UnconnectedTransportStops) {
  SentCounter sent;
  {
    UcxTransport transport(test_options(TransportKind::UcxTcp, 0, 2));
    transport.send(1, {7, "too early", {}}, sent.callback());
  }
  EXPECT_EQ(sent.failed(), 1);
}

TEST(UcxTransportTest, RejectedUcxSettingIsNamed) {
  UcxOptions options = test_options(TransportKind::UcxTcp, 0, 1);
  options.ucx_settings = {{"TLS", "carrier_pigeon"}};
  EXPECT_THROW(UcxTransport{options}, UserError);
  options.ucx_settings = {{"RNDV_THRESH", "many"}};
  try {
    UcxTransport transport(options);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("RNDV_THRESH=many"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pistachio
