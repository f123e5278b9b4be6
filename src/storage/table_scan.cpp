#include "storage/table_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/task_group.h"

namespace pistachio {

Task<std::optional<ScannedChunk>> ScanLane::next() {
  while (true) {
    if (unit_ == nullptr) {
      Task<std::unique_ptr<UnitReader>> taking = scan_.take_unit();
      unit_ = co_await taking;
      if (unit_ == nullptr) co_return std::nullopt;
      if (!scan_.stopped_) {
        Task<void> completing = unit_->complete();
        co_await completing;
      }
    }
    std::optional<Chunk> chunk;
    if (!scan_.stopped_) chunk = unit_->next();
    if (chunk) {
      ScannedChunk scanned{std::move(*chunk), unit_->memory()};
      co_return scanned;
    }
    unit_.reset();
    Task<void> releasing = scan_.release_window();
    co_await releasing;
  }
}

Task<std::optional<UnitPages>> ScanLane::next_pages() {
  while (true) {
    Task<std::unique_ptr<UnitReader>> taking = scan_.take_unit();
    std::unique_ptr<UnitReader> unit = co_await taking;
    if (unit == nullptr) co_return std::nullopt;
    std::optional<UnitPages> pages;
    if (!scan_.stopped_) pages = unit->take_pages();
    unit.reset();
    Task<void> releasing = scan_.release_window();
    co_await releasing;
    if (pages) co_return pages;
  }
}

Task<std::optional<size_t>> TableScan::choose_unit() {
  if (source_ != nullptr) {
    Task<std::optional<size_t>> asking = source_->next();
    std::optional<size_t> unit = co_await asking;
    if (unit) counters_.rows_total += plan_.units[*unit].rows;
    co_return unit;
  }
  size_t index = next_unit_++;
  co_return index < plan_.units.size() ? std::optional(index) : std::nullopt;
}

Task<std::unique_ptr<UnitReader>> TableScan::make_unit(size_t index) {
  const ScanUnit& unit = plan_.units[index];
  // The blocking reader holds all units until the last one is fetched. Waiting for it to release memory would be a deadlock.
  ReservationKind kind = storage_.settings.reader == ReaderMode::Blocking ? ReservationKind::Held : ReservationKind::Transient;
  Reservation reservation;
  try {
    Task<Reservation> reserving = storage_.memory.reserve(unit.memory_bytes, kind);
    reservation = co_await reserving;
  } catch (const OutOfMemory& error) {
    const DataLocation place{plan_.table->files[unit.file].file->path(), unit.row_group};
    throw OutOfMemory(fmt::format("{} (for reading {})", error.message(), place.to_string()));
  }
  co_return std::make_unique<UnitReader>(storage_, plan_, unit, std::move(reservation), counters_, staging_);
}

Task<std::unique_ptr<UnitReader>> TableScan::take_unit() {
  if (storage_.settings.reader == ReaderMode::Blocking) {
    Task<std::unique_ptr<UnitReader>> taking = fetch_all_first();
    std::unique_ptr<UnitReader> unit = co_await taking;
    co_return unit;
  }
  if (!storage_.settings.overlap) {
    Task<std::unique_ptr<UnitReader>> taking = fetch_next();
    std::unique_ptr<UnitReader> unit = co_await taking;
    co_return unit;
  }
  Task<std::optional<std::unique_ptr<UnitReader>>> receiving = ready_->receive();
  std::optional<std::unique_ptr<UnitReader>> unit = co_await receiving;
  co_return unit ? std::move(*unit) : nullptr;
}

Task<std::unique_ptr<UnitReader>> TableScan::fetch_next() {
  if (stopped_) co_return nullptr;
  Task<std::optional<size_t>> choosing = choose_unit();
  std::optional<size_t> index = co_await choosing;
  if (!index) co_return nullptr;
  Task<std::unique_ptr<UnitReader>> making = make_unit(*index);
  std::unique_ptr<UnitReader> unit = co_await making;
  Task<void> fetching = unit->fetch();
  co_await fetching;
  co_return unit;
}

Task<std::unique_ptr<UnitReader>> TableScan::fetch_all_first() {
  while (!all_fetched_) {
    Task<std::unique_ptr<UnitReader>> fetching = fetch_next();
    std::unique_ptr<UnitReader> unit = co_await fetching;
    if (unit == nullptr) {
      all_fetched_ = true;
      std::reverse(fetched_.begin(), fetched_.end());
    } else {
      fetched_.push_back(std::move(unit));
    }
  }
  if (fetched_.empty()) co_return nullptr;
  std::unique_ptr<UnitReader> unit = std::move(fetched_.back());
  fetched_.pop_back();
  co_return unit;
}

Task<void> TableScan::release_window() {
  if (in_flight_ == nullptr) co_return;
  Task<std::optional<int>> releasing = in_flight_->receive();
  co_await releasing;
}

Task<void> TableScan::fetch_and_pass(std::unique_ptr<UnitReader> unit) {
  Task<void> fetching = unit->fetch();
  co_await fetching;
  Task<void> passing = ready_->send(std::move(unit), 1);
  co_await passing;
  if (--units_to_pass_ == 0) ready_->close();
}

// Reserves memory for one unit after the other, in the order of the plan.
Task<void> TableScan::dispatch(TaskGroup& group) {
  while (true) {
    Task<void> entering = in_flight_->send(0, 1);
    co_await entering;
    if (stopped_) break;
    Task<std::optional<size_t>> choosing = choose_unit();
    std::optional<size_t> index = co_await choosing;
    if (!index) break;
    Task<std::unique_ptr<UnitReader>> making = make_unit(*index);
    std::unique_ptr<UnitReader> unit = co_await making;
    ++units_to_pass_;
    group.spawn(fetch_and_pass(std::move(unit)));
  }
  if (--units_to_pass_ == 0) ready_->close();
}

Task<void> TableScan::run(int lanes, std::function<Task<void>(ScanLane&)> consume) {
  bool blocking = storage_.settings.reader == ReaderMode::Blocking;
  if (source_ == nullptr) {
    for (const ScanUnit& unit : plan_.units) counters_.rows_total += unit.rows;
  }
  lanes_ = blocking ? 1 : lanes;
  std::vector<ScanLane> all;
  for (int lane = 0; lane < lanes_; ++lane) all.emplace_back(*this);
  auto body = [&](TaskGroup& group) -> Task<void> {
    if (storage_.settings.overlap && !blocking) {
      units_to_pass_ = 1;
      ready_ = std::make_unique<UnitChannel>(window());
      in_flight_ = std::make_unique<Channel<int>>(window());
      group.spawn(dispatch(group));
    }
    for (ScanLane& lane : all) group.spawn(consume(lane));
    co_return;
  };
  Task<void> running = with_task_group(body);
  co_await running;
}

}  // namespace pistachio
