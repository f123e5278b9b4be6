// Detects immediately when another process on this machine ends (pidfd). Single-threaded. Memory: one descriptor.
#pragma once

#include <cstdint>

namespace pistachio {

class ProcessWatch {
 public:
  // Watches nothing if there is no such process or the kernel lacks support.
  explicit ProcessWatch(int64_t process = 0);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;

  // Readable (for poll) once the process has ended; -1: nothing is watched.
  int descriptor() const { return descriptor_; }
  bool has_ended() const;
  void stop();

 private:
  int descriptor_ = -1;
};

}  // namespace pistachio
