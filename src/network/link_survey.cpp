#include "network/link_survey.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_stream.h"
#include "base/error.h"
#include "base/start_thread.h"

namespace pistachio {

namespace {

// Interval at which a waiting caller checks for cancellation.
constexpr std::chrono::milliseconds kStep{20};
constexpr size_t kLongestText = 1024;

void throw_if_over(const CancelToken& token) {
  // No task runs under this token, so its deadline is checked here.
  if (token.deadline() && std::chrono::steady_clock::now() >= *token.deadline()) token.expire();
  token.throw_if_cancelled();
}

}  // namespace

std::vector<std::pair<int, int>> links_between(const std::vector<int>& hosts) {
  std::map<int, std::vector<int>> ranks_of;
  for (size_t rank = 0; rank < hosts.size(); ++rank) ranks_of[hosts[rank]].push_back(static_cast<int>(rank));
  std::vector<std::pair<int, int>> links;
  for (auto host = ranks_of.begin(); host != ranks_of.end(); ++host) {
    const std::vector<int>& ranks = host->second;
    if (ranks.size() > 1) links.emplace_back(ranks[0], ranks[1]);
    auto next = std::next(host) == ranks_of.end() ? ranks_of.begin() : std::next(host);
    if (next != host) links.emplace_back(ranks[0], next->second[0]);
  }
  return links;
}

int64_t message_bytes_for(const std::vector<MeasuredLink>& links) {
  int64_t largest = 0;
  for (const MeasuredLink& link : links) largest = std::max(largest, smallest_fast_size(link.speeds));
  return largest;
}

double slowest_speed(const std::vector<MeasuredLink>& links) {
  double slowest = 0;
  for (const MeasuredLink& link : links) {
    double best = 0;
    for (const LinkSpeed& speed : link.speeds) best = std::max(best, speed.bytes_per_second);
    slowest = slowest == 0 ? best : std::min(slowest, best);
  }
  return slowest;
}

LinkSurvey::LinkSurvey(Transport& transport, LinkSurveyOptions options)
    : transport_(transport), options_(std::move(options)), calibrator_(transport) {}

void LinkSurvey::stop() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  // Releases a running measurement, which waits for answers.
  for (int peer = 0; peer < transport_.ranks(); ++peer) calibrator_.on_peer_lost(peer, "this rank is shutting down");
  if (thread_.joinable()) thread_.join();
}

std::vector<MeasuredLink> LinkSurvey::measure(const CancelToken& token) {
  std::vector<MeasuredLink> links;
  for (auto [from, to] : links_between(options_.hosts)) {
    std::optional<MeasuredLink> link;
    {
      std::lock_guard lock(mutex_);
      auto found = known_.find({from, to});
      if (found != known_.end()) link = found->second;
    }
    if (!link) link = ask(from, to, token);
    links.push_back(std::move(*link));
  }
  return links;
}

std::vector<MeasuredLink> LinkSurvey::known() const {
  std::lock_guard lock(mutex_);
  std::vector<MeasuredLink> links;
  for (const auto& [pair, link] : known_) links.push_back(link);
  return links;
}

MeasuredLink LinkSurvey::ask(int from, int to, const CancelToken& token) {
  std::unique_lock lock(mutex_);
  int64_t number = next_number_++;
  asked_.emplace(number, std::nullopt);
  uint64_t from_losses = losses_.count(from);
  uint64_t to_losses = losses_.count(to);
  lock.unlock();
  ByteWriter head;
  head.put(number);
  head.put<int32_t>(to);
  transport_.send(from, {kMeasureKind, head.take(), {}});
  lock.lock();
  struct Removal {
    LinkSurvey& survey;
    int64_t number;
    ~Removal() { survey.asked_.erase(number); }
  } removal{*this, number};  // destroyed before `lock`, so it runs under the lock
  while (!asked_.at(number)) {
    throw_if_over(token);
    if (losses_.is_gone(from, from_losses)) throw PeerError(from, losses_.why(from));
    if (losses_.is_gone(to, to_losses)) throw PeerError(to, losses_.why(to));
    changed_.wait_for(lock, kStep);
  }
  Answer answer = std::move(*asked_.at(number));
  if (!answer.error.empty()) throw PeerError(from, answer.error);
  answer.link.from = from;
  answer.link.to = to;
  known_[{from, to}] = answer.link;
  return std::move(answer.link);
}

bool LinkSurvey::take(int source, Message& message) {
  if (LinkCalibrator::handles(message.kind)) {
    calibrator_.on_message(source, std::move(message));
  } else if (message.kind == kMeasureKind) {
    note_request(source, message.head);
  } else if (message.kind == kMeasuredKind) {
    note_answer(source, message.head);
  } else {
    return false;
  }
  return true;
}

void LinkSurvey::on_peer_lost(int peer, const std::string& why) {
  calibrator_.on_peer_lost(peer, why);
  std::lock_guard lock(mutex_);
  losses_.lose(peer, why);
  changed_.notify_all();
}

void LinkSurvey::on_peer_replaced(const RankInfo& peer) {
  calibrator_.on_peer_replaced(peer);
  std::lock_guard lock(mutex_);
  losses_.restore(peer.rank);
}

void LinkSurvey::note_request(int source, const std::string& head) {
  ByteReader reader(head);
  Request request{.asker = source, .number = reader.get<int64_t>(), .to = reader.get<int32_t>()};
  if (request.to < 0 || request.to >= transport_.ranks())
    throw PeerError(source, "it asks to measure a link to a rank that does not exist");
  std::lock_guard lock(mutex_);
  if (is_stopping_) return;
  requests_.push_back(request);
  if (!thread_.joinable()) {
    thread_ = start_thread("measuring links", "raise the limit on processes", [this] { serve(); });
  }
  changed_.notify_all();
}

void LinkSurvey::note_answer(int source, const std::string& head) {
  ByteReader reader(head);
  auto number = reader.get<int64_t>();
  Answer answer;
  answer.error = reader.get_text();
  answer.link.route = reader.get_text();
  size_t count = reader.get_count(sizeof(int64_t) + sizeof(double));
  for (size_t i = 0; i < count; ++i) {
    LinkSpeed speed;
    speed.message_bytes = reader.get<int64_t>();
    speed.bytes_per_second = reader.get<double>();
    answer.link.speeds.push_back(speed);
  }
  if (answer.error.empty() && answer.link.speeds.empty()) throw PeerError(source, "its measurement of a link is empty");
  std::lock_guard lock(mutex_);
  auto found = asked_.find(number);
  if (found != asked_.end()) found->second = std::move(answer);
  changed_.notify_all();
}

void LinkSurvey::serve() {
  while (true) {
    Request request;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_stopping_ || !requests_.empty(); });
      if (is_stopping_) return;
      request = requests_.front();
      requests_.pop_front();
    }
    Answer answer = measure_from_here(request.to);
    ByteWriter head;
    head.put(request.number);
    head.put_text(answer.error.substr(0, kLongestText));
    head.put_text(answer.link.route.substr(0, kLongestText));
    head.put<uint64_t>(answer.link.speeds.size());
    for (const LinkSpeed& speed : answer.link.speeds) {
      head.put(speed.message_bytes);
      head.put(speed.bytes_per_second);
    }
    transport_.send(request.asker, {kMeasuredKind, head.take(), {}});
  }
}

LinkSurvey::Answer LinkSurvey::measure_from_here(int to) {
  Answer answer;
  try {
    answer.link.speeds = calibrator_.measure(to, options_.largest_message, options_.timeout);
    if (options_.route) answer.link.route = options_.route(to);
  } catch (const Error& error) {
    answer.error = error.message();
  } catch (const std::exception& error) {
    answer.error = error.what();
  }
  return answer;
}

}  // namespace pistachio
