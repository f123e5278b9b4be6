#include "frontend/bench/perftest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontend/bench/file_paths.h"
#include "network/ucx_library.h"

extern char** environ;

namespace pistachio {

namespace {

using namespace std::chrono_literals;

constexpr auto kLongestRun = 120s;
constexpr auto kStep = 5ms;
constexpr double kBytesOfItsUnit = 1 << 20;

// Empty if unknown.
std::string folder_of_ucx() {
  char path[PATH_MAX];
  return ::realpath(ucx().file.c_str(), path) == nullptr ? "" : folder_above(path);
}

// A wheel's library is not on the loader's path, so the program needs LD_LIBRARY_PATH.
std::vector<std::string> environment_with_libraries(const std::string& program) {
  constexpr std::string_view name = "LD_LIBRARY_PATH=";
  std::string folders = folder_above(folder_above(program)) + "/lib";
  std::vector<std::string> made;
  for (char** one = environ; *one != nullptr; ++one) {
    if (std::string_view(*one).starts_with(name)) {
      folders += fmt::format(":{}", *one + name.size());
    } else {
      made.emplace_back(*one);
    }
  }
  made.push_back(fmt::format("{}{}", name, folders));
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

// A child process whose output and errors are read after it exits: it prints far less than a pipe holds.
class Child {
 public:
  Child(const std::string& program, std::vector<std::string> words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw UserError(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
    output_ = ends[0];
    words.insert(words.begin(), program);
    std::vector<std::string> environment = environment_with_libraries(program);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    // Signals are blocked in all threads of this program; the child must receive them.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int problem = ::posix_spawn(&process_, program.c_str(), &actions, &attributes, pointers(words).data(), pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (problem != 0) {
      process_ = 0;
      ::close(output_);
      throw UserError(fmt::format("cannot start {}: {}", program, std::strerror(problem)));
    }
  }
  ~Child() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Its exit status; nullopt while it runs.
  std::optional<int> ended() {
    if (process_ > 0) {
      int status = 0;
      if (::waitpid(process_, &status, WNOHANG) == 0) return std::nullopt;
      process_ = 0;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return status_;
  }
  std::string output() {
    std::string text;
    char part[4096];
    for (ssize_t count = 0; (count = ::read(output_, part, sizeof(part))) > 0;) text.append(part, static_cast<size_t>(count));
    return text;
  }

 private:
  int output_ = -1;
  pid_t process_ = 0;
  int status_ = 0;
};

int free_port() {
  int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  bool works = probe >= 0 && ::bind(probe, reinterpret_cast<sockaddr*>(&address), length) == 0 &&
               ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  if (probe >= 0) ::close(probe);
  if (!works) throw UserError(fmt::format("there is no free port for ucx_perftest: {}", std::strerror(errno)));
  return ntohs(address.sin_port);
}

// Parses its CSV: a line of names, a line of numbers.
std::optional<double> bandwidth_in(const std::string& output) {
  std::istringstream lines(output);
  std::string names;
  std::string numbers;
  while (std::getline(lines, names) && names.find("overall_bw") == std::string::npos) {
  }
  if (!std::getline(lines, numbers)) return std::nullopt;
  auto words = [](const std::string& line) {
    std::vector<std::string> made;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, ',');) made.push_back(word);
    return made;
  };
  std::vector<std::string> columns = words(names);
  std::vector<std::string> values = words(numbers);
  auto found = static_cast<size_t>(std::find(columns.begin(), columns.end(), "overall_bw") - columns.begin());
  if (found >= values.size()) return std::nullopt;
  double value = std::atof(values[found].c_str());
  if (value <= 0) return std::nullopt;
  return value * kBytesOfItsUnit;
}

}  // namespace

std::optional<std::string> find_perftest() {
  std::string above = folder_above(folder_of_ucx());
  // Next to lib/, or next to lib/x86_64-linux-gnu/ one level up.
  for (const std::string& folder : {above, folder_above(above)}) {
    std::string program = folder + "/bin/ucx_perftest";
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

double perftest_bandwidth(const std::string& program, int64_t message_bytes, int64_t messages, const CancelToken& token) {
  auto deadline = std::chrono::steady_clock::now() + kLongestRun;
  std::string port = std::to_string(free_port());
  Child server(program, {"-p", port});
  std::string last_words;
  // The server needs a moment until it listens: a client that is too early exits at once and is retried.
  while (true) {
    std::string warm_up = std::to_string(std::max<int64_t>(1, messages / 10));
    Child client(program, {"127.0.0.1", "-p", port, "-t", "ucp_am_bw", "-s", std::to_string(message_bytes), "-n", std::to_string(messages),
                           "-w", warm_up, "-f", "-v"});
    while (!client.ended()) {
      token.throw_if_cancelled();
      if (std::chrono::steady_clock::now() > deadline)
        throw UserError(fmt::format("{} has not ended after {} s", program, std::chrono::seconds(kLongestRun).count()));
      std::this_thread::sleep_for(kStep);
    }
    last_words = client.output();
    std::optional<double> bandwidth = bandwidth_in(last_words);
    if (client.ended() == 0 && bandwidth) return *bandwidth;
    token.throw_if_cancelled();
    if (server.ended()) {
      std::string said = server.output();
      throw UserError(fmt::format("{} gave no figure: {}", program, said.empty() ? last_words : said));
    }
    if (std::chrono::steady_clock::now() > deadline) throw UserError(fmt::format("{} gave no figure: {}", program, last_words));
    std::this_thread::sleep_for(kStep * 4);
  }
}

}  // namespace pistachio
