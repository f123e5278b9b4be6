#include "cluster/running_query.h"

#include <fmt/format.h>

#include <utility>

namespace pistachio {

namespace {

constexpr size_t kRememberedQueries = 64;

}  // namespace

void RunningQuery::fail(RemoteError failure) {
  bool is_better = !error || (error->kind == RemoteError::Kind::Cancelled && failure.kind != RemoteError::Kind::Cancelled);
  if (is_better) error = std::move(failure);
  source.cancel(fmt::format("rank {} has failed", error->rank));
}

void EarlyNews::add_cancel(int64_t query) {
  cancelled_.insert(query);
  if (cancelled_.size() > kRememberedQueries) cancelled_.erase(cancelled_.begin());
}

void EarlyNews::add_failure(int64_t query, RemoteError error) {
  failed_.emplace(query, std::move(error));
  if (failed_.size() > kRememberedQueries) failed_.erase(failed_.begin());
}

std::optional<RemoteError> EarlyNews::take_failure(int64_t query) {
  auto found = failed_.extract(query);
  return found ? std::optional(std::move(found.mapped())) : std::nullopt;
}

}  // namespace pistachio
