#include "frontend/cli/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"

extern char** environ;

namespace pistachio {

namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kStep{5};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

// What the launcher of this process said about ranks must not reach the ranks started here.
bool is_of_a_job(std::string_view variable) {
  for (std::string_view name : {"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "MASTER_ADDR=", "MASTER_PORT="}) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

RankProcesses::RankProcesses(int ranks, int master_port, std::vector<std::string> arguments,
                             std::vector<std::vector<std::string>> variables) {
  std::vector<char*> words = pointers(arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  int problem = 0;
  for (int rank = 1; rank < ranks && problem == 0; ++rank) {
    std::vector<std::string> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      if (!is_of_a_job(*one)) environment.emplace_back(*one);
    }
    environment.push_back(fmt::format("RANK={}", rank));
    environment.push_back(fmt::format("LOCAL_RANK={}", rank));
    environment.push_back(fmt::format("WORLD_SIZE={}", ranks));
    environment.push_back("MASTER_ADDR=127.0.0.1");
    environment.push_back(fmt::format("MASTER_PORT={}", master_port));
    for (const std::string& variable : variables[static_cast<size_t>(rank)]) environment.push_back(variable);
    std::vector<char*> block = pointers(environment);
    pid_t process = 0;
    problem = ::posix_spawn(&process, "/proc/self/exe", &actions, &attributes, words.data(), block.data());
    if (problem == 0) processes_.push_back(process);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw UserError(fmt::format("cannot start a process for a rank: {}", std::strerror(problem)));
}

RankProcesses::~RankProcesses() {
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (pid_t process : processes_) {
    while (::waitpid(process, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(kStep);
    }
  }
}

}  // namespace pistachio
