#include "frontend/cli/bench_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

extern char** environ;

namespace pistachio {

namespace {

constexpr const char* kConverter = "rsvg-convert";

void require_writable(const std::string& path) {
  bool is_new = ::access(path.c_str(), F_OK) != 0;
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw UserError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  ::close(file);
  if (is_new) ::unlink(path.c_str());
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw UserError(fmt::format("cannot write {}", path));
}

// The program's path; empty if it is not on PATH.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "" : path;
  while (!left.empty()) {
    size_t end = std::min(left.find(':'), left.size());
    std::string full = fmt::format("{}/{}", left.substr(0, end), name);
    if (end > 0 && ::access(full.c_str(), X_OK) == 0) return full;
    left.remove_prefix(std::min(left.size(), end + 1));
  }
  return "";
}

void convert(const std::string& program, const std::string& source, const std::string& target) {
  std::string words[] = {program, "-o", target, source};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t process = 0;
  int problem = ::posix_spawn(&process, program.c_str(), nullptr, nullptr, pointers, environ);
  int status = 0;
  if (problem != 0) throw UserError(fmt::format("cannot start {}: {}", program, std::strerror(problem)));
  ::waitpid(process, &status, 0);
  if (status != 0) throw UserError(fmt::format("{} could not write {}", program, target));
}

}  // namespace

BenchOutput::BenchOutput(const CommandArguments& arguments) : json_(arguments.value("--json")), plot_(arguments.value("--plot")) {
  if (json_) require_writable(*json_);
  if (!plot_) return;
  if (plot_->ends_with(".png")) {
    converter_ = find_program(kConverter);
    if (converter_.empty())
      throw UserError(
          fmt::format("--plot {}: a PNG needs the program {}, which is not there; take a name that ends in .svg", *plot_, kConverter));
  } else if (!plot_->ends_with(".svg")) {
    throw UsageError(fmt::format("--plot takes a name that ends in .svg or .png, not '{}'", *plot_));
  }
  require_writable(*plot_);
}

void BenchOutput::write(const nlohmann::ordered_json& json, const std::string& svg) const {
  if (json_) write_file(*json_, json.dump(2) + "\n");
  if (!plot_) return;
  if (converter_.empty()) return write_file(*plot_, svg);
  std::string picture = *plot_ + ".svg";
  write_file(picture, svg);
  convert(converter_, picture, *plot_);
  ::unlink(picture.c_str());
}

}  // namespace pistachio
