#include "network/meeting_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <thread>

#include "base/byte_stream.h"
#include "base/error.h"
#include "base/start_thread.h"

namespace pistachio {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Handshake: server sends greeting and nonce, client its nonce and proof, server its proof.
constexpr std::string_view kGreeting = "pistachio meeting 1\n";
constexpr size_t kGreetingBytes = kGreeting.size() + JobSecret::kNonceBytes;
constexpr size_t kClientProofBytes = JobSecret::kNonceBytes + JobSecret::kProofBytes;
// Sent instead of the server's proof when the client's proof is wrong.
const std::string kRejection(JobSecret::kProofBytes, '\0');
constexpr uint32_t kLargestRequest = 16 << 20;

enum class Request : uint8_t { Put, Get, Add, HasAll };

std::string with_length(const std::string& body) {
  const auto length = static_cast<uint32_t>(body.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + body;
}

// The length prefix of a message, if it has arrived.
std::optional<uint32_t> length_of(const std::string& bytes) {
  uint32_t length = 0;
  if (bytes.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length;
}

// Dual-stack where IPv6 is available, else IPv4 only.
int listening_socket(int port) {
  auto listen_with = [&](int family) {
    const int made = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) return -1;
    const int on = 1;
    const int off = 0;
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int status = -1;
    if (family == AF_INET6) {
      ::setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_port = htons(static_cast<uint16_t>(port));
      status = ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } else {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<uint16_t>(port));
      status = ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    if (status == 0) status = ::listen(made, SOMAXCONN);
    if (status == 0) return made;
    const int problem = errno;
    ::close(made);
    errno = problem;
    return -1;
  };
  int made = listen_with(AF_INET6);
  if (made < 0 && errno != EADDRINUSE && errno != EACCES) made = listen_with(AF_INET);
  if (made < 0) throw UserError(fmt::format("rank 0 cannot listen on port {}: {}; set MASTER_PORT to a free one", port, std::strerror(errno)));
  return made;
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

class RendezvousServer::Loop {
 public:
  Loop(int port, const JobSecret& secret) : secret_(secret), listening_(listening_socket(port)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread_ = start_thread("rendezvous", "raise the limit on processes (ulimit -u)", [this] { run(); });
  }
  ~Loop() {
    const uint64_t one = 1;
    [[maybe_unused]] ssize_t written = ::write(wake_, &one, sizeof one);
    thread_.join();
    for (const Connection& connection : connections_) ::close(connection.socket);
    ::close(listening_);
    ::close(wake_);
  }

  int port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    // sin_port and sin6_port have the same offset.
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }

 private:
  struct Connection {
    int socket = -1;
    Clock::time_point since;
    std::string nonce;
    bool is_authenticated = false;
    bool closes_after_write = false;
    bool is_closed = false;
    std::string incoming;
    std::string outgoing;
  };

  void run() {
    while (true) {
      std::vector<pollfd> waiting = {{wake_, POLLIN, 0}, {listening_, POLLIN, 0}};
      for (const Connection& connection : connections_) {
        const short writing = connection.outgoing.empty() ? 0 : POLLOUT;
        waiting.push_back({connection.socket, static_cast<short>(POLLIN | writing), 0});
      }
      ::poll(waiting.data(), waiting.size(), unauthenticated() > 0 ? 100 : -1);
      if (waiting[0].revents != 0) return;
      size_t place = 2;
      for (Connection& connection : connections_) serve(connection, waiting[place++].revents);
      if (waiting[1].revents != 0) accept_all();
      close_expired();
      connections_.remove_if([](const Connection& connection) {
        if (connection.is_closed) ::close(connection.socket);
        return connection.is_closed;
      });
    }
  }

  size_t unauthenticated() const {
    return static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(), [](const Connection& own) { return !own.is_authenticated; }));
  }

  void accept_all() {
    while (true) {
      const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        // Out of descriptors: reclaim one from an unauthenticated connection.
        if (errno == EMFILE || errno == ENFILE) close_oldest_unauthenticated();
        return;
      }
      if (unauthenticated() >= kMaxUnauthenticated) close_oldest_unauthenticated();
      send_at_once(socket);
      Connection& made = connections_.emplace_back();
      made.socket = socket;
      made.since = Clock::now();
      made.nonce = JobSecret::nonce();
      made.outgoing = std::string(kGreeting) + made.nonce;
      write(made);
    }
  }

  void close_oldest_unauthenticated() {
    auto found = std::find_if(connections_.begin(), connections_.end(), [](const Connection& own) { return !own.is_authenticated && !own.is_closed; });
    if (found != connections_.end()) found->is_closed = true;
  }

  void close_expired() {
    const Clock::time_point now = Clock::now();
    for (Connection& own : connections_) own.is_closed = own.is_closed || (!own.is_authenticated && now - own.since > kAuthenticationTimeout);
  }

  void serve(Connection& connection, short events) {
    if (connection.is_closed || events == 0) return;
    if ((events & POLLOUT) != 0) write(connection);
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) read(connection);
  }

  void read(Connection& connection) {
    char bytes[16 << 10];
    while (!connection.is_closed && !connection.closes_after_write) {
      // An unauthenticated peer can buffer no more than its proof.
      const size_t room = connection.is_authenticated ? sizeof bytes : std::min(sizeof bytes, kClientProofBytes - connection.incoming.size());
      const ssize_t count = ::recv(connection.socket, bytes, room, 0);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count <= 0) {
        connection.is_closed = true;
        return;
      }
      connection.incoming.append(bytes, static_cast<size_t>(count));
      if (connection.is_authenticated) {
        answer_requests(connection);
      } else if (connection.incoming.size() == kClientProofBytes) {
        check_proof(connection);
      }
    }
  }

  void check_proof(Connection& connection) {
    const std::string nonce = connection.incoming.substr(0, JobSecret::kNonceBytes);
    const std::string proof = connection.incoming.substr(JobSecret::kNonceBytes);
    connection.incoming.clear();
    connection.is_authenticated = secret_.is_proof(proof, "meeting client", {connection.nonce, nonce});
    connection.closes_after_write = !connection.is_authenticated;
    connection.outgoing += connection.is_authenticated ? secret_.prove("meeting server", {nonce, connection.nonce}) : kRejection;
    write(connection);
  }

  void answer_requests(Connection& connection) {
    while (std::optional<uint32_t> length = length_of(connection.incoming)) {
      if (*length > kLargestRequest) {
        connection.is_closed = true;
        return;
      }
      const size_t end = sizeof(uint32_t) + *length;
      if (connection.incoming.size() < end) return;
      std::string reply;
      try {
        reply = answer(connection.incoming.substr(sizeof(uint32_t), *length));
      } catch (const Error&) {
        connection.is_closed = true;
        return;
      }
      connection.incoming.erase(0, end);
      connection.outgoing += with_length(reply);
      write(connection);
    }
  }

  std::string answer(const std::string& body) {
    ByteReader reader(body);
    ByteWriter reply;
    switch (static_cast<Request>(reader.get<uint8_t>())) {
      case Request::Put: {
        std::string key = reader.get_text();
        values_[key] = reader.get_text();
        break;
      }
      case Request::Get: {
        auto found = values_.find(reader.get_text());
        reply.put<uint8_t>(found != values_.end() ? 1 : 0);
        if (found != values_.end()) reply.put_text(found->second);
        break;
      }
      case Request::Add: {
        std::string key = reader.get_text();
        reply.put<int64_t>(sums_[key] += reader.get<int64_t>());
        break;
      }
      case Request::HasAll: {
        bool has_all = true;
        const size_t count = reader.get_count(sizeof(uint64_t));
        for (size_t i = 0; i < count; ++i) has_all = values_.contains(reader.get_text()) && has_all;
        reply.put<uint8_t>(has_all ? 1 : 0);
        break;
      }
      default: throw PeerError("an unknown request");
    }
    return reply.take();
  }

  static void write(Connection& connection) {
    while (!connection.outgoing.empty()) {
      const ssize_t count = ::send(connection.socket, connection.outgoing.data(), connection.outgoing.size(), MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count < 0) {
        connection.is_closed = true;
        return;
      }
      connection.outgoing.erase(0, static_cast<size_t>(count));
    }
    if (connection.closes_after_write) connection.is_closed = true;
  }

  const JobSecret secret_;
  const int listening_;
  const int wake_;
  // Used by the thread; oldest first.
  std::list<Connection> connections_;
  std::map<std::string, std::string> values_;
  std::map<std::string, int64_t> sums_;
  std::thread thread_;
};

RendezvousServer::RendezvousServer(int port, const JobSecret& secret) : loop_(std::make_unique<Loop>(port, secret)) {}

RendezvousServer::~RendezvousServer() = default;

int RendezvousServer::port() const {
  return loop_->port();
}

namespace {

// Receive and send timeout of the client's blocking socket.
constexpr timeval kSocketTimeout{60, 0};

int connected_socket(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0) throw UserError(::gai_strerror(problem));
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int made = ::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (made < 0) continue;
    ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
    ::setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &kSocketTimeout, sizeof kSocketTimeout);
    if (::connect(made, address->ai_addr, address->ai_addrlen) == 0) {
      send_at_once(made);
      return made;
    }
    ::close(made);
  }
  return -1;
}

// False if the connection is closed.
bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

std::optional<std::string> receive_exactly(int socket, size_t length) {
  std::string bytes(length, '\0');
  for (size_t done = 0; done < length;) {
    const ssize_t count = ::recv(socket, bytes.data() + done, length - done, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<size_t>(count);
  }
  return bytes;
}

enum class Outcome { Authenticated, Disconnected, SecretMismatch, ProtocolMismatch };

Outcome authenticate(int socket, const JobSecret& secret) {
  std::optional<std::string> greeting = receive_exactly(socket, kGreetingBytes);
  if (!greeting) return Outcome::Disconnected;
  if (!greeting->starts_with(kGreeting)) return Outcome::ProtocolMismatch;
  const std::string theirs = greeting->substr(kGreeting.size());
  const std::string own = JobSecret::nonce();
  if (!send_all(socket, own + secret.prove("meeting client", {theirs, own}))) return Outcome::Disconnected;
  std::optional<std::string> proof = receive_exactly(socket, JobSecret::kProofBytes);
  if (!proof) return Outcome::Disconnected;
  return secret.is_proof(*proof, "meeting server", {own, theirs}) ? Outcome::Authenticated : Outcome::SecretMismatch;
}

}  // namespace

RendezvousClient::RendezvousClient(const std::string& host, int port, const JobSecret& secret, Deadline deadline) {
  for (std::chrono::milliseconds pause = 10ms; true; pause = std::min(2 * pause, std::chrono::milliseconds(500))) {
    socket_ = connected_socket(host, port);
    const Outcome outcome = socket_ < 0 ? Outcome::Disconnected : authenticate(socket_, secret);
    if (outcome == Outcome::Authenticated) return;
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    if (outcome == Outcome::SecretMismatch)
      throw UserError(fmt::format("the process at {}:{} has a different secret: {} must be the same for all ranks, and each job needs a MASTER_PORT of "
                                  "its own",
                                  host, port, kSecretVariable));
    if (outcome == Outcome::ProtocolMismatch) throw UserError(fmt::format("the process at {}:{} is not a rank 0 of this version", host, port));
    if (Clock::now() + pause > deadline) throw UserError(fmt::format("the process at {}:{} ends every connection", host, port));
    std::this_thread::sleep_for(pause);
  }
}

RendezvousClient::~RendezvousClient() {
  if (socket_ >= 0) ::close(socket_);
}

std::string RendezvousClient::ask(const std::string& request) {
  std::optional<std::string> length;
  std::optional<std::string> reply;
  if (send_all(socket_, with_length(request))) length = receive_exactly(socket_, sizeof(uint32_t));
  if (length) reply = receive_exactly(socket_, *length_of(*length));
  if (!reply) throw UserError("it was closed");
  return *reply;
}

void RendezvousClient::put(const std::string& key, const std::string& value) {
  ByteWriter request;
  request.put(Request::Put);
  request.put_text(key);
  request.put_text(value);
  ask(request.bytes());
}

std::optional<std::string> RendezvousClient::get(const std::string& key) {
  ByteWriter request;
  request.put(Request::Get);
  request.put_text(key);
  const std::string reply = ask(request.bytes());
  ByteReader reader(reply);
  if (reader.get<uint8_t>() == 0) return std::nullopt;
  return reader.get_text();
}

int64_t RendezvousClient::add(const std::string& key, int64_t more) {
  ByteWriter request;
  request.put(Request::Add);
  request.put_text(key);
  request.put(more);
  const std::string reply = ask(request.bytes());
  return ByteReader(reply).get<int64_t>();
}

bool RendezvousClient::has_all(const std::vector<std::string>& keys) {
  ByteWriter request;
  request.put(Request::HasAll);
  request.put<uint64_t>(keys.size());
  for (const std::string& key : keys) request.put_text(key);
  const std::string reply = ask(request.bytes());
  return ByteReader(reply).get<uint8_t>() != 0;
}

}  // namespace pistachio
