#include "storage/open_files.h"

#include <unistd.h>

#include <iterator>
#include <utility>

namespace pistachio {

FileDescriptor::~FileDescriptor() {
  ::close(number_);
}

std::shared_ptr<const FileDescriptor> OpenFiles::find(const void* owner) {
  std::lock_guard lock(mutex_);
  auto found = by_owner_.find(owner);
  if (found == by_owner_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->descriptor;
}

void OpenFiles::keep(const void* owner, std::shared_ptr<const FileDescriptor> descriptor) {
  std::list<Entry> closed;  // outside the lock
  std::lock_guard lock(mutex_);
  if (auto found = by_owner_.find(owner); found != by_owner_.end()) {
    closed.splice(closed.begin(), entries_, found->second);
    by_owner_.erase(found);
  }
  entries_.push_front({owner, std::move(descriptor)});
  by_owner_[owner] = entries_.begin();
  if (entries_.size() <= most_) return;
  by_owner_.erase(entries_.back().owner);
  closed.splice(closed.begin(), entries_, std::prev(entries_.end()));
}

void OpenFiles::forget(const void* owner) {
  std::list<Entry> closed;  // outside the lock
  std::lock_guard lock(mutex_);
  auto found = by_owner_.find(owner);
  if (found == by_owner_.end()) return;
  closed.splice(closed.begin(), entries_, found->second);
  by_owner_.erase(found);
}

}  // namespace pistachio
