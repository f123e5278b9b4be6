#include "memory/pressure_callbacks.h"

#include <algorithm>
#include <utility>

namespace pistachio {

struct PressureEntry {
  // Held while the callback runs. Recursive, because a callback may itself reserve memory and re-enter.
  std::recursive_mutex mutex;
  PressureCallback callback;
  bool is_running = false;
};

PressureRegistration& PressureRegistration::operator=(PressureRegistration&& other) noexcept {
  if (this != &other) {
    remove();
    entry_ = std::move(other.entry_);
  }
  return *this;
}

void PressureRegistration::remove() {
  if (!entry_) return;
  std::lock_guard lock(entry_->mutex);
  entry_->callback = nullptr;
}

PressureRegistration PressureCallbacks::add(PressureCallback callback) {
  auto entry = std::make_shared<PressureEntry>();
  entry->callback = std::move(callback);
  std::lock_guard lock(mutex_);
  // If the registration is gone, only this list refers to the entry.
  std::erase_if(entries_, [](const std::shared_ptr<PressureEntry>& old) { return old.use_count() == 1; });
  entries_.push_back(entry);
  return PressureRegistration(std::move(entry));
}

bool PressureCallbacks::call_until(int64_t wanted_bytes, const std::function<bool()>& is_enough) {
  std::vector<std::shared_ptr<PressureEntry>> entries;
  {
    std::lock_guard lock(mutex_);
    entries = entries_;
  }
  for (const std::shared_ptr<PressureEntry>& entry : entries) {
    {
      std::lock_guard lock(entry->mutex);
      if (!entry->callback || entry->is_running) continue;
      entry->is_running = true;
      entry->callback(wanted_bytes);
      entry->is_running = false;
    }
    if (is_enough()) return true;
  }
  return false;
}

}  // namespace pistachio
