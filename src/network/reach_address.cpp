#include "network/reach_address.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <thread>

namespace pistachio {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string system_text(int code) {
  return std::error_code(code, std::generic_category()).message();
}

std::string try_to_connect(const addrinfo& address, Clock::time_point deadline) {
  int socket_descriptor = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol);
  if (socket_descriptor < 0) return system_text(errno);
  std::unique_ptr<int, void (*)(int*)> closer(&socket_descriptor, [](int* open) { close(*open); });
  if (connect(socket_descriptor, address.ai_addr, address.ai_addrlen) == 0) return "";
  if (errno != EINPROGRESS) return system_text(errno);
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd descriptor{socket_descriptor, POLLOUT, 0};
  if (poll(&descriptor, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 1, 5'000))) <= 0) return "no answer";
  int code = 0;
  socklen_t size = sizeof(code);
  getsockopt(socket_descriptor, SOL_SOCKET, SO_ERROR, &code, &size);
  return code == 0 ? "" : system_text(code);
}

std::string try_once(const std::string& host, int port, Clock::time_point deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int problem = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0) return gai_strerror(problem);
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::string wrong = "it has no address";
  for (const addrinfo* address = found; address != nullptr && !wrong.empty(); address = address->ai_next) {
    wrong = try_to_connect(*address, deadline);
  }
  return wrong;
}

}  // namespace

std::string reach_address(const std::string& host, int port, Clock::time_point deadline,
                          const std::function<void(const std::string&)>& after_attempt) {
  Clock::duration pause = 10ms;
  while (true) {
    std::string wrong = try_once(host, port, deadline);
    if (wrong.empty() || Clock::now() + pause > deadline) return wrong;
    after_attempt(wrong);
    std::this_thread::sleep_for(pause);
    pause = std::min<Clock::duration>(pause * 2, 500ms);
  }
}

}  // namespace pistachio
