#include "cluster/running_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace pistachio {

namespace {

constexpr size_t kRememberedQueries = 64;

}  // namespace

void RunningQuery::fail(RemoteError failure) noexcept {
  bool is_better = !error || (error->kind == RemoteError::Kind::Cancelled && failure.kind != RemoteError::Kind::Cancelled);
  if (is_better) error = std::move(failure);
  std::string reason;
  try {
    reason = fmt::format("rank {} has failed", error->rank);
  } catch (const std::bad_alloc&) {
    reason = "a rank failed";  // short enough to need no memory
  }
  source.cancel(std::move(reason));
}

EarlyOutcomes::EarlyOutcomes() {
  cancelled_.reserve(kRememberedQueries);
  failed_.reserve(kRememberedQueries);
}

void EarlyOutcomes::add_cancel(int64_t query) noexcept {
  if (std::find(cancelled_.begin(), cancelled_.end(), query) != cancelled_.end()) return;
  if (cancelled_.size() == kRememberedQueries) cancelled_.erase(std::min_element(cancelled_.begin(), cancelled_.end()));
  cancelled_.push_back(query);
}

void EarlyOutcomes::add_failure(int64_t query, RemoteError error) noexcept {
  if (std::any_of(failed_.begin(), failed_.end(), [&](const Failed& one) { return one.query == query; })) return;
  auto is_older = [](const Failed& left, const Failed& right) { return left.query < right.query; };
  if (failed_.size() == kRememberedQueries) failed_.erase(std::min_element(failed_.begin(), failed_.end(), is_older));
  failed_.push_back({query, std::move(error)});
}

bool EarlyOutcomes::take_cancel(int64_t query) noexcept {
  return std::erase(cancelled_, query) > 0;
}

std::optional<RemoteError> EarlyOutcomes::take_failure(int64_t query) noexcept {
  auto found = std::find_if(failed_.begin(), failed_.end(), [&](const Failed& one) { return one.query == query; });
  if (found == failed_.end()) return std::nullopt;
  RemoteError error = std::move(found->error);
  failed_.erase(found);
  return error;
}

}  // namespace pistachio
