#include "network/meeting_store.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "base/error.h"

namespace pistachio {
namespace {

using namespace std::chrono_literals;

RendezvousClient::Deadline soon() {
  return std::chrono::steady_clock::now() + 20s;
}

// A client without the secret.
class StrangeClient {
 public:
  explicit StrangeClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~StrangeClient() { ::close(socket_); }
  bool is_connected() const { return is_connected_; }
  void say(const std::string& bytes) { [[maybe_unused]] ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // Everything until the peer closes the connection.
  std::string hear_all() {
    std::string heard;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;) heard.append(bytes, static_cast<size_t>(count));
    return heard;
  }

 private:
  int socket_;
  bool is_connected_ = false;
};

class MeetingStoreTest : public testing::Test {
 protected:
  RendezvousClient client() { return RendezvousClient("127.0.0.1", server_.port(), secret_, soon()); }
  void expect_service() {
    RendezvousClient one("127.0.0.1", server_.port(), secret_, soon());
    one.put("key", "value");
    EXPECT_EQ(one.get("key"), "value");
  }

  JobSecret secret_ = JobSecret::random();
  RendezvousServer server_{0, secret_};
};

TEST_F(MeetingStoreTest, StoresValuesAndSums) {
  RendezvousClient one("127.0.0.1", server_.port(), secret_, soon());
  RendezvousClient other("localhost", server_.port(), secret_, soon());
  EXPECT_FALSE(other.get("a"));
  EXPECT_FALSE(other.has_all({"a"}));
  EXPECT_TRUE(other.has_all({}));
  std::string large(3'000'000, 'x');
  one.put("a", large);
  one.put("b", std::string("\0\n", 2));
  EXPECT_EQ(other.get("a"), large);
  EXPECT_EQ(other.get("b"), std::string("\0\n", 2));
  EXPECT_TRUE(other.has_all({"a", "b"}));
  EXPECT_FALSE(other.has_all({"a", "c"}));
  EXPECT_EQ(one.add("n", 2), 2);
  EXPECT_EQ(other.add("n", 0), 2);
  EXPECT_EQ(other.add("n", -5), -3);
}

TEST_F(MeetingStoreTest, ServesConcurrentClients) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      RendezvousClient own("127.0.0.1", server_.port(), secret_, soon());
      for (int j = 0; j < 200; ++j) own.add("n", 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client().add("n", 0), 3200);
}

TEST_F(MeetingStoreTest, WrongSecretIsRefused) {
  try {
    RendezvousClient wrong("127.0.0.1", server_.port(), JobSecret::random(), soon());
    FAIL() << "it was let in";
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find("has a different secret"), std::string::npos) << error.message();
  }
  expect_service();
}

TEST_F(MeetingStoreTest, UnauthenticatedPeerLearnsOnlyTheNonce) {
  client().put("key", "value that nobody else may see");
  std::mt19937 random(3);
  for (size_t length : {0, 1, 63, 64, 65, 100'000}) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    StrangeClient stranger(server_.port());
    stranger.say(bytes);
    if (length < 64) continue;  // the server still waits for more
    std::string heard = stranger.hear_all();
    EXPECT_LE(heard.size(), 52u + 32u);
    EXPECT_EQ(heard.find("value"), std::string::npos);
  }
  expect_service();
}

TEST_F(MeetingStoreTest, HalfOpenFloodDoesNotLockOutRanks) {
  RendezvousClient before("127.0.0.1", server_.port(), secret_, soon());
  std::vector<std::unique_ptr<StrangeClient>> flood;
  for (size_t i = 0; i < 3 * RendezvousServer::kMaxUnauthenticated; ++i) {
    flood.push_back(std::make_unique<StrangeClient>(server_.port()));
    if (i % 3 == 0) flood.back()->say("GET / HTTP/1.1\r\n");
    if (i % 64 == 0) expect_service();
  }
  expect_service();
  before.put("key", "of one who was there before");
  EXPECT_EQ(client().get("key"), "of one who was there before");
}

TEST_F(MeetingStoreTest, SilentConnectionTimesOut) {
  StrangeClient stranger(server_.port());
  ASSERT_TRUE(stranger.is_connected());
  EXPECT_EQ(stranger.hear_all().size(), 52u) << "the greeting, and then the end";
}

TEST(MeetingServerTest, PortInUseIsReported) {
  RendezvousServer server(0, JobSecret::random());
  try {
    RendezvousServer again(server.port(), JobSecret::random());
    FAIL() << "two listen on one port";
  } catch (const UserError& error) {
    EXPECT_NE(error.message().find("set MASTER_PORT to a free one"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace pistachio
