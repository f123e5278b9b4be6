#include "session/rank_service.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/byte_stream.h"
#include "base/check.h"
#include "base/start_thread.h"
#include "physical/plan_serializer.h"
#include "session/query_pipeline.h"
#include "session/rank_files.h"

namespace pistachio {

namespace {

constexpr int64_t kSmallestWindow = 256 << 10;
constexpr int64_t kSmallestMessage = 256 << 10;
constexpr int64_t kLargestMessage = 8 << 20;
constexpr int64_t kUnmeasuredMessage = 1 << 20;

// What the body of Finished begins with.
enum class Outcome : uint8_t { Success, Failure };

std::string failure(const RemoteError& error) {
  ByteWriter writer;
  writer.put(Outcome::Failure);
  return writer.take() + error.to_bytes();
}

std::string success(const RankProfile& profile) {
  ByteWriter writer;
  writer.put(Outcome::Success);
  put_profile(writer, profile);
  return writer.take();
}

at::Tensor payload_of(const std::string& bytes) {
  at::Tensor payload = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
  if (!bytes.empty()) std::memcpy(payload.mutable_data_ptr<uint8_t>(), bytes.data(), bytes.size());
  return payload;
}

std::string bytes_of(const at::Tensor& payload) {
  if (!payload.defined()) return {};
  return {reinterpret_cast<const char*>(payload.const_data_ptr<uint8_t>()), static_cast<size_t>(payload.numel())};
}

// Rows for another rank are gathered until they are so large.
int64_t message_bytes(const Settings& settings) {
  return settings.dynamic_buffering ? settings.message_bytes : 0;
}

void put_settings(ByteWriter& writer, const Settings& settings) {
  writer.put<uint64_t>(setting_descriptions().size());
  for (const SettingDescription& setting : setting_descriptions()) {
    writer.put_text(setting.name);
    writer.put_text(setting.show(settings));
  }
}

Settings get_settings(ByteReader& reader) {
  Settings settings;
  size_t count = reader.get_count();
  for (size_t i = 0; i < count; ++i) {
    std::string name = reader.get_text();
    assign_setting(settings, name, reader.get_text());
  }
  return settings;
}

}  // namespace

RankService::RankService(EngineInstance& engine, Transport& transport, LinkSurveyOptions links)
    : engine_(engine), transport_(transport), hub_(transport), links_(transport, std::move(links)) {
  transport_.start(*this);
}

RankService::~RankService() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (auto& [number, query] : queries_) {
      query->source.cancel("the rank is shutting down");
      if (query->thread.joinable()) threads.push_back(std::move(query->thread));
    }
  }
  for (std::thread& thread : threads) thread.join();
  links_.stop();
  transport_.stop();
}

void RankService::send(int rank, MessageKind kind, int64_t number, const std::string& body) {
  ByteWriter head;
  head.put(number);
  transport_.send(rank, Message{static_cast<uint16_t>(kind), head.take(), body.empty() ? at::Tensor() : payload_of(body)});
}

ExchangeLimits RankService::limits(const Settings& settings, size_t exchanges) const {
  // All exchanges of a query together leave most of the memory to operators. By the settings that came with the query: both ends of an
  // exchange must count with the same window.
  int64_t share = settings.memory_limit / 4 / static_cast<int64_t>(std::max<size_t>(1, exchanges));
  int64_t window = std::max(kSmallestWindow, std::min(settings.queue_limit, share) / ranks());
  return {.window_bytes = window,
          .outgoing_bytes = std::max(kSmallestWindow, window / 4),
          .compress = settings.network_compression == NetworkCompression::On};
}

int64_t RankService::suitable_message_bytes(const ExchangeLimits& limits) const {
  int64_t needed = message_bytes_for(links_.known());
  if (needed == 0) needed = kUnmeasuredMessage;
  // Two fit into the window: one is under way while another is worked up.
  return std::min(std::clamp(needed, kSmallestMessage, kLargestMessage), limits.window_bytes / 2);
}

NetworkCompression RankService::suitable_compression(const Settings& settings) const {
  double link = slowest_speed(links_.known());
  auto limit = static_cast<double>(settings.link_bandwidth_limit);
  if (limit > 0) link = link > 0 ? std::min(link, limit) : limit;
  return compression_pays(link) ? NetworkCompression::On : NetworkCompression::Off;
}

void RankService::prepare_links(const Settings& settings, const CancelToken& token) {
  if (!settings.calibrate_links || !settings.dynamic_buffering || settings.message_bytes != 0) return;
  try {
    links_.measure(token);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    // A rank that is lost fails the query; without memory for this, messages get a usual size.
  }
}

std::vector<RankProfile> RankService::run(const PhysicalPlan& plan, ExecutablePlan& executable, EngineInstance::QueryScope& scope,
                                          ResultReceiver& receiver, const CancelToken& token, bool watched) {
  ENSURE_EQ(rank(), 0);
  Settings settings = scope.storage().settings;
  if (settings.network_compression == NetworkCompression::Auto) settings.network_compression = suitable_compression(settings);
  ExchangeLimits exchange_limits = limits(settings, plan.exchanges);
  if (settings.message_bytes == 0) settings.message_bytes = suitable_message_bytes(exchange_limits);
  ByteWriter body;
  put_settings(body, settings);
  body.put<uint8_t>(watched ? 1 : 0);
  body.put_text(serialize_plan(plan));
  std::string bytes = body.take();

  int64_t number = 0;
  Query* query = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (!lost_.empty()) {
      throw PeerError(fmt::format("rank {} is lost, and this statement needs all ranks: {}; start the cluster again", lost_.front().rank,
                                  lost_.front().why));
    }
    number = next_number_++;
    query = queries_.emplace(number, std::make_unique<Query>(token)).first->second.get();
    for (int other = 1; other < ranks(); ++other) query->running.insert(other);
  }
  // The query is taken off the list whatever happens; messages that come later find nothing.
  struct Removal {
    RankService& service;
    int64_t number;
    ~Removal() {
      std::lock_guard lock(service.mutex_);
      service.queries_.erase(number);
    }
  } removal{*this, number};

  std::exception_ptr own_error;
  std::vector<RankProfile> profiles(static_cast<size_t>(ranks()));
  {
    QueryExchanges exchanges(hub_, number, plan.exchanges, exchange_limits, plan.filters);
    for (int other = 1; other < ranks(); ++other) send(other, MessageKind::Plan, number, bytes);
    try {
      std::optional<UseSampler> use;
      if (watched) use.emplace(scope.read_pool(), exchanges);
      run_plan(engine_, scope, executable, &receiver, query->source.token(), &exchanges, message_bytes(settings));
      profiles[0] = profile_of(plan, executable, &exchanges, scope.read_pool().statistics().bytes);
      if (use) profiles[0].use = use->finish();
    } catch (...) {
      own_error = std::current_exception();
    }
  }
  if (own_error) cancel_everywhere(number, "another rank has failed");
  std::unique_lock lock(mutex_);
  auto all_ended = [&] { return query->running.empty(); };
  // A cancellation has to reach ranks that are still busy.
  while (!all_ended()) {
    // Nothing runs here any more whose timer would see to that.
    if (token.deadline() && *token.deadline() < std::chrono::steady_clock::now()) token.expire();
    if (token.is_cancelled() && !query->source.is_cancelled()) query->source.cancel(token.reason());
    bool is_cancelled = query->source.is_cancelled() || own_error;
    if (is_cancelled) {
      std::string reason = query->source.token().reason();
      lock.unlock();
      cancel_everywhere(number, reason);
      lock.lock();
      auto patience = std::chrono::milliseconds(settings.peer_timeout);
      if (!changed_.wait_for(lock, patience, all_ended)) break;
    } else {
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  std::optional<RemoteError> remote = query->error;
  for (auto& [other, profile] : query->profiles) profiles[static_cast<size_t>(other)] = std::move(profile);
  lock.unlock();
  bool own_is_cancellation = false;
  if (own_error) own_is_cancellation = RemoteError::of(own_error, 0).kind == RemoteError::Kind::Cancelled;
  if (own_error && !own_is_cancellation) std::rethrow_exception(own_error);
  if (remote && (remote->kind != RemoteError::Kind::Cancelled || !own_error)) remote->raise();
  if (own_error) std::rethrow_exception(own_error);
  return profiles;
}

void RankService::cancel_everywhere(int64_t number, const std::string& reason) {
  for (int other = 1; other < ranks(); ++other) send(other, MessageKind::Cancel, number, reason);
}

std::string RankService::wait(const CancelToken& token) {
  CancelCallback wake(token, [&] {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return find_lost(0) != nullptr || token.is_cancelled(); });
  token.throw_if_cancelled();
  return find_lost(0)->why;
}

const RankService::LostRank* RankService::find_lost(int rank) const {
  auto found = std::find_if(lost_.begin(), lost_.end(), [&](const LostRank& lost) { return lost.rank == rank; });
  return found == lost_.end() ? nullptr : &*found;
}

void RankService::on_message(int source, Message message) noexcept {
  try {
    if (hub_.take(source, message) || links_.take(source, message)) return;
    ByteReader head(message.head);
    auto number = head.get<int64_t>();
    switch (static_cast<MessageKind>(message.kind)) {
      case MessageKind::Plan: start_query(number, message); break;
      case MessageKind::Finished: note_finished(number, source, bytes_of(message.payload)); break;
      case MessageKind::Cancel: {
        std::lock_guard lock(mutex_);
        auto found = queries_.find(number);
        if (found != queries_.end()) {
          found->second->source.cancel(bytes_of(message.payload));
        } else {
          cancelled_early_.insert(number);
          if (cancelled_early_.size() > 64) cancelled_early_.erase(cancelled_early_.begin());
        }
        break;
      }
      default: break;
    }
  } catch (const std::exception&) {
    // Not made by this code. Whoever waits for something else notices that it does not come.
  }
}

void RankService::start_query(int64_t number, const Message& message) {
  std::lock_guard lock(mutex_);
  if (is_stopping_ || queries_.contains(number)) return;
  for (auto it = queries_.begin(); it != queries_.end();) {
    bool has_ended = it->second->has_ended;
    if (has_ended && it->second->thread.joinable()) it->second->thread.join();
    it = has_ended ? queries_.erase(it) : std::next(it);
  }
  try {
    auto query = std::make_unique<Query>(CancelToken());
    if (cancelled_early_.erase(number) > 0) query->source.cancel("the query was cancelled");
    for (const auto& [peer, why] : lost_) fail(*query, {.kind = RemoteError::Kind::Peer, .message = why, .position = -1, .rank = peer});
    auto part = [this, number, bytes = bytes_of(message.payload), token = query->source.token()] { run_part(number, bytes, token); };
    query->thread = start_thread("a query of another rank", "raise the limit on processes", part);
    queries_.emplace(number, std::move(query));
  } catch (...) {
    hub_.forget(number);
    send(0, MessageKind::Finished, number, failure(RemoteError::of(std::current_exception(), rank())));
  }
}

void RankService::run_part(int64_t number, const std::string& bytes, const CancelToken& token) {
  std::optional<RemoteError> error;
  RankProfile profile;
  try {
    profile = take_part(number, bytes, token);
  } catch (...) {
    error = RemoteError::of(std::current_exception(), rank());
  }
  hub_.forget(number);
  {
    std::lock_guard lock(mutex_);
    auto found = queries_.find(number);
    bool was_stopped = error && error->kind == RemoteError::Kind::Cancelled;
    if (was_stopped && found != queries_.end() && found->second->error) {
      // The first rank may not know yet that a rank is lost, or reach it all the same.
      error = found->second->error;
      error->message += fmt::format(" (seen by rank {})", rank());
    }
  }
  send(0, MessageKind::Finished, number, error ? failure(*error) : success(profile));
  std::lock_guard lock(mutex_);
  auto found = queries_.find(number);
  if (found != queries_.end()) found->second->has_ended = true;
}

RankProfile RankService::take_part(int64_t number, const std::string& bytes, const CancelToken& token) {
  ByteReader reader(bytes);
  Settings settings = get_settings(reader);
  bool watched = reader.get<uint8_t>() != 0;
  EngineInstance::QueryScope scope(engine_, settings, EngineInstance::QueryScope::Use::Operators);
  auto open = [&](const std::string& name, const std::vector<std::string>& patterns) {
    return Table::of_files(name, engine_.scheduler().run(open_rank_table(scope.storage(), patterns, rank()), token));
  };
  PhysicalPlan plan = deserialize_plan(reader.get_text(), open);
  ExecutablePlan executable = build_executable(plan, rank());
  QueryExchanges exchanges(hub_, number, plan.exchanges, limits(settings, plan.exchanges), plan.filters);
  std::optional<UseSampler> use;
  if (watched) use.emplace(scope.read_pool(), exchanges);
  run_plan(engine_, scope, executable, nullptr, token, &exchanges, message_bytes(settings));
  RankProfile profile = profile_of(plan, executable, &exchanges, scope.read_pool().statistics().bytes);
  if (use) profile.use = use->finish();
  return profile;
}

void RankService::note_finished(int64_t number, int rank, const std::string& bytes) {
  std::optional<RemoteError> error;
  RankProfile profile;
  try {
    ByteReader reader(bytes);
    if (reader.get<Outcome>() == Outcome::Success) {
      profile = get_profile(reader);
    } else {
      error = RemoteError::of_bytes(bytes.substr(sizeof(Outcome)), rank);
    }
  } catch (const PeerError& damaged) {
    // It has ended, whatever it wanted to say of that.
    error = RemoteError{.kind = RemoteError::Kind::Internal, .message = damaged.message(), .position = -1, .rank = rank};
  }
  std::lock_guard lock(mutex_);
  auto found = queries_.find(number);
  if (found == queries_.end()) return;
  found->second->running.erase(rank);
  found->second->profiles.emplace(rank, std::move(profile));
  if (error) fail(*found->second, std::move(*error));
  changed_.notify_all();
}

void RankService::fail(Query& query, RemoteError error) {
  // One that is not a cancellation goes before one that is: a rank that was stopped because another failed never hides the failure.
  bool is_better = !query.error || (query.error->kind == RemoteError::Kind::Cancelled && error.kind != RemoteError::Kind::Cancelled);
  if (is_better) query.error = std::move(error);
  query.source.cancel(fmt::format("rank {} has failed", query.error->rank));
}

void RankService::on_peer_lost(int peer, std::string why) noexcept {
  try {
    links_.on_peer_lost(peer, why);
    std::lock_guard lock(mutex_);
    if (find_lost(peer) == nullptr) lost_.push_back({peer, why});
    for (auto& [number, query] : queries_) {
      query->running.erase(peer);
      RemoteError error{.kind = RemoteError::Kind::Peer, .message = why, .position = -1, .rank = peer};
      fail(*query, std::move(error));
    }
    changed_.notify_all();
  } catch (const std::exception&) {
    // Out of memory for a text: the query ends all the same, by its deadline or its user.
  }
}

}  // namespace pistachio
