#include "results/chunk_text.h"

#include "expr/polled_text.h"

namespace pistachio {

void append_plain(std::string& target, std::string_view text, WorkPoll& poll) {
  if (static_cast<int64_t>(text.size()) <= kBytesPerPoll) {
    poll(static_cast<int64_t>(text.size()));
    target += text;
    return;
  }
  target.reserve(target.size() + text.size());
  for_each_block(text, poll, [&](std::string_view block) { target += block; });
}

}  // namespace pistachio
