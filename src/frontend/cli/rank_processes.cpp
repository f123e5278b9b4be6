#include "frontend/cli/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/start_thread.h"

extern char** environ;

namespace pistachio {

namespace {

constexpr std::chrono::milliseconds kStep{5};
constexpr std::chrono::milliseconds kLookInterval{50};

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

RankProcesses::RankProcesses(int ranks, int master_port, std::vector<std::string> arguments) {
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
    std::vector<char*> block = pointers(environment);
    pid_t process = 0;
    problem = ::posix_spawn(&process, "/proc/self/exe", &actions, &attributes, words.data(), block.data());
    if (problem == 0) processes_.push_back(process);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) {
    end_all();
    throw UserError(fmt::format("cannot start the process of rank {}: {}", processes_.size() + 1, std::strerror(problem)));
  }
}

RankProcesses::~RankProcesses() {
  end_all();
}

void RankProcesses::end_all() {
  auto deadline = std::chrono::steady_clock::now() + patience_;
  for (pid_t process : processes_) {
    int status = 0;
    while (::waitpid(process, &status, WNOHANG | WUNTRACED) == 0 || WIFSTOPPED(status)) {
      // One that is stopped hears of nothing.
      if (WIFSTOPPED(status) || std::chrono::steady_clock::now() > deadline) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(kStep);
    }
  }
}

std::string RankProcesses::how_it_ended(int rank) const {
  siginfo_t facts{};
  pid_t process = processes_[static_cast<size_t>(rank) - 1];
  // It stays to be waited for: its number must not go to another process before the end.
  if (::waitid(P_PID, static_cast<id_t>(process), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 || facts.si_pid == 0) return "";
  if (facts.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", facts.si_status);
  return fmt::format("was ended by signal {} ({})", facts.si_status, ::strsignal(facts.si_status));
}

void RankProcesses::require_all() const {
  for (int rank = 1; rank <= static_cast<int>(processes_.size()); ++rank) {
    std::string how = how_it_ended(rank);
    if (how.empty()) continue;
    throw UserError(fmt::format("rank {} (process {}) {} before the ranks had met; if it had something to say, it stands above", rank,
                                processes_[static_cast<size_t>(rank) - 1], how));
  }
}

RankProcesses::Watch::Watch(const RankProcesses& processes, Callback on_end) : processes_(processes), on_end_(std::move(on_end)) {
  thread_ = start_thread("the ranks of a local cluster", "raise the limit on processes (ulimit -u)", [this] { run(); });
}

RankProcesses::Watch::~Watch() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopping_changed_.notify_all();
  thread_.join();
}

void RankProcesses::Watch::run() {
  std::set<int> running;
  for (size_t i = 0; i < processes_.processes_.size(); ++i) running.insert(static_cast<int>(i) + 1);
  std::unique_lock lock(mutex_);
  while (!stopping_changed_.wait_for(lock, kLookInterval, [&] { return is_stopping_; })) {
    std::erase_if(running, [&](int rank) {
      std::string how = processes_.how_it_ended(rank);
      if (!how.empty()) on_end_(rank, how);
      return !how.empty();
    });
  }
}

void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(1);  // it was sooner
}

}  // namespace pistachio
