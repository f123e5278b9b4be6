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
#include <thread>

#include "base/error.h"

extern char** environ;

namespace pistachio {

namespace {

constexpr std::chrono::milliseconds kStep{5};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

// Variables of this process's own launcher must not reach the ranks started here.
bool is_of_a_job(std::string_view variable) {
  for (std::string_view name : {"RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "MASTER_ADDR=", "MASTER_PORT=", "PISTACHIO_JOB_SECRET="}) {
    if (variable.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

RankProcesses::RankProcesses(int ranks, int master_port, JobSecret secret, std::vector<std::string> arguments)
    : ranks_(ranks), master_port_(master_port), secret_(std::move(secret)), arguments_(std::move(arguments)) {
  try {
    for (int rank = 1; rank < ranks; ++rank) processes_.push_back(start(rank));
  } catch (...) {
    end_all();
    throw;
  }
}

pid_t RankProcesses::start(int rank) {
  std::vector<char*> words = pointers(arguments_);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    if (!is_of_a_job(*one)) environment.emplace_back(*one);
  }
  environment.push_back(fmt::format("RANK={}", rank));
  environment.push_back(fmt::format("LOCAL_RANK={}", rank));
  environment.push_back(fmt::format("WORLD_SIZE={}", ranks_));
  environment.push_back("MASTER_ADDR=127.0.0.1");
  environment.push_back(fmt::format("MASTER_PORT={}", master_port_));
  environment.push_back(fmt::format("{}={}", kSecretVariable, secret_.text()));
  std::vector<char*> block = pointers(environment);
  pid_t process = 0;
  int problem = ::posix_spawn(&process, "/proc/self/exe", &actions, &attributes, words.data(), block.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw UserError(fmt::format("cannot start the process of rank {}: {}", rank, std::strerror(problem)));
  return process;
}

void RankProcesses::restart(int rank) {
  pid_t& process = processes_[static_cast<size_t>(rank) - 1];
  // It may be stopped, and its late messages must not interfere with the new process.
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = start(rank);
}

RankProcesses::~RankProcesses() {
  end_all();
}

void RankProcesses::end_all() {
  std::vector<pid_t> left = processes_;
  auto deadline = std::chrono::steady_clock::now() + timeout_;
  while (!left.empty()) {
    bool is_late = std::chrono::steady_clock::now() > deadline;
    std::erase_if(left, [&](pid_t process) {
      int status = 0;
      pid_t changed = ::waitpid(process, &status, WNOHANG | WUNTRACED);
      bool is_stopped = changed > 0 && WIFSTOPPED(status);
      // A stopped process cannot react. A killed process takes a while to disappear; the others must not wait for that.
      if (is_stopped || (is_late && changed == 0)) ::kill(process, SIGKILL);
      return changed != 0 && !is_stopped;
    });
    if (!left.empty()) std::this_thread::sleep_for(kStep);
  }
}

std::string RankProcesses::exit_description(int rank) const {
  siginfo_t facts{};
  pid_t process = processes_[static_cast<size_t>(rank) - 1];
  // WNOWAIT keeps the zombie: its pid must not be reused before the end.
  if (::waitid(P_PID, static_cast<id_t>(process), &facts, WEXITED | WNOHANG | WNOWAIT) != 0 || facts.si_pid == 0) return "";
  if (facts.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", facts.si_status);
  return fmt::format("was ended by signal {} ({})", facts.si_status, ::strsignal(facts.si_status));
}

void RankProcesses::require_all() const {
  for (int rank = 1; rank <= static_cast<int>(processes_.size()); ++rank) {
    std::string how = exit_description(rank);
    if (how.empty()) continue;
    throw UserError(fmt::format("rank {} (process {}) {} during startup; its own error, if any, is above", rank,
                                processes_[static_cast<size_t>(rank) - 1], how));
  }
}

void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) std::_Exit(1);  // the parent died first
}

}  // namespace pistachio
