#include "exec/operators/group_table.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "columns/column_compare.h"
#include "columns/column_hash.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "exec/core/stoppable_call.h"
#include "exec/operators/small_domain.h"
#include "kernels/ops/compare_to_groups.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/gather_rows.h"
#include "kernels/ops/group_assign.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/key_places.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

constexpr int64_t kFirstCapacity = 1024;  // 16 KiB: fits into the L1 cache
constexpr int64_t kGrowth = 4;
constexpr int64_t kKeyBytes = 32;  // typical bytes of a key column per new group
constexpr int kMaxAttempts = 64;
constexpr int64_t kRowsPerStrip = 1 << 20;  // between two polls of the token

bool compare_values(const Column& of_groups, const Column& keys, const at::Tensor& ids, int64_t first_new, at::Tensor& equal) {
  const Column of_rows = decode_dictionary(keys);
  if (!of_rows.type().is_text()) return kernels::compare_to_groups(equal, ids, first_new, of_groups.values(), of_rows.values());
  return kernels::compare_to_groups_text(equal, ids, first_new, {of_groups.bytes(), of_groups.begins(), of_groups.ends()},
                                         {of_rows.bytes(), of_rows.begins(), of_rows.ends()});
}

// NULL equals NULL. Values are compared only where neither is NULL.
void compare_with_nulls(const Column& of_groups, const Column& keys, const at::Tensor& ids, int64_t first_new, at::Tensor& equal) {
  at::Tensor group_valid = of_groups.has_validity() ? kernels::gather_rows(of_groups.validity(), ids) : at::ones_like(equal);
  const at::Tensor row_valid = keys.has_validity() ? keys.validity() : at::ones_like(equal);
  const at::Tensor either = group_valid.logical_or(row_valid);
  at::Tensor same = group_valid.logical_and_(row_valid).logical_and_(equal);
  compare_values(of_groups, keys, ids, first_new, same);
  equal.logical_and_(same.logical_or_(either.logical_not()));
}

// Not on a GPU: it hashes all rows in one launch, and finding the number of keys would make the host wait for it.
std::optional<SmallDomain> domain_of(const std::vector<Column>& keys, int64_t rows) {
  return keys[0].device().is_cpu() ? SmallDomain::of(keys, rows) : std::nullopt;
}

}  // namespace

GroupTable::GroupTable(const std::vector<LogicalType>& types, at::Device device)
    : slots_(at::zeros({kFirstCapacity, 2}, at::TensorOptions(at::kLong).device(device))) {
  for (LogicalType type : types) keys_.emplace_back(type, device);
  exact_ = types.size() == 1 && hash_is_exact(types[0]);
}

at::Tensor GroupTable::assign(const std::vector<Column>& keys, int64_t rows, const CancelToken& token) {
  if (keys_.empty()) {
    groups_ = std::max<int64_t>(groups_, rows > 0 ? 1 : 0);
    return at::zeros({rows}, slots_.options());
  }
  const std::optional<SmallDomain> domain = domain_of(keys, rows);
  if (!domain) return assign_all(keys, rows, token);
  const at::Tensor present = kernels::present_places(domain->places(), domain->size());
  at::Tensor id_of_place = at::empty({domain->size()}, slots_.options());
  id_of_place.index_copy_(0, present, assign_all(domain->keys_at(present), present.numel(), token));
  return kernels::dictionary_gather(id_of_place, domain->places());
}

void GroupTable::add(const std::vector<Column>& keys, int64_t rows, const CancelToken& token) {
  ENSURE(!keys_.empty());
  if (const std::optional<SmallDomain> domain = domain_of(keys, rows)) {
    const at::Tensor present = kernels::present_places(domain->places(), domain->size());
    assign_all(domain->keys_at(present), present.numel(), token);
  } else {
    assign_all(keys, rows, token);
  }
}

void GroupTable::reserve(int64_t groups, const CancelToken& token) {
  const auto capacity = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * groups)));
  if (capacity > slots_.size(0)) grow_slots(capacity, token);
}

void GroupTable::grow_slots(int64_t capacity, const CancelToken& token) {
  slots_ = groups_ == 0 ? at::zeros({capacity, 2}, slots_.options())
                        : call_stoppable(token, [&](const at::Tensor& stop) { return kernels::group_rehash(slots_, capacity, stop); });
}

at::Tensor GroupTable::assign_all(const std::vector<Column>& keys, int64_t rows, const CancelToken& token) {
  const at::Tensor hashes = hash_rows(keys, token);
  // A GPU takes all rows at once: strips would cost kernel launches.
  if (rows <= kRowsPerStrip || !hashes.is_cpu()) return assign_strip(keys, hashes, 0, token);
  at::Tensor ids = at::empty({rows}, hashes.options());
  for (int64_t begin = 0; begin < rows; begin += kRowsPerStrip) {
    token.throw_if_cancelled();
    const int64_t count = std::min(kRowsPerStrip, rows - begin);
    std::vector<Column> strip;
    for (const Column& key : keys) strip.push_back(key.slice(begin, count));
    ids.narrow(0, begin, count).copy_(assign_strip(strip, hashes.narrow(0, begin, count), 0, token));
  }
  return ids;
}

at::Tensor GroupTable::assign_strip(const std::vector<Column>& keys, const at::Tensor& hashes, int attempt, const CancelToken& token) {
  ENSURE_LT(attempt, kMaxAttempts);
  const int64_t groups_before = groups_;
  at::Tensor ids = find_or_add(keys, hashes, token);
  // The hash is a permutation of the key values and thus exact, but the hash of NULL may collide with one of them.
  if (exact_ && !keys[0].has_validity() && !keys_[0].view().has_validity()) return ids;
  at::Tensor equal = at::ones({ids.numel()}, ids.options().dtype(at::kBool));
  if (compare_keys(keys, ids, groups_before, equal)) return ids;
  at::Tensor others = equal.logical_not();
  std::vector<Column> other_keys;
  for (const Column& key : keys) other_keys.push_back(select_rows(key, others));
  at::Tensor other_hashes =
      kernels::hash64_combine(kernels::compress(hashes, others), at::full({kernels::count_true(others)}, attempt + 1, hashes.options()));
  ids.masked_scatter_(others, assign_strip(other_keys, other_hashes, attempt + 1, token));
  return ids;
}

bool GroupTable::compare_keys(const std::vector<Column>& keys, const at::Tensor& ids, int64_t first_new, at::Tensor& equal) const {
  bool all = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Column of_groups = keys_[i].view();
    if (!keys[i].device().is_cpu() || keys[i].type().kind() == TypeKind::Interval) {
      equal.logical_and_(same_rows(take_rows(of_groups, ids), keys[i]));
      all = false;
    } else if (of_groups.has_validity() || keys[i].has_validity()) {
      compare_with_nulls(of_groups, keys[i], ids, first_new, equal);
      all = false;
    } else {
      all = compare_values(of_groups, keys[i], ids, first_new, equal) && all;
    }
  }
  return all || kernels::count_true(equal) == equal.numel();
}

at::Tensor GroupTable::find_or_add(const std::vector<Column>& keys, const at::Tensor& hashes, const CancelToken& token) {
  std::vector<at::Tensor> all_ids;
  int64_t done = 0;
  while (true) {
    int64_t capacity = slots_.size(0);
    auto [ids, first_rows] = kernels::group_assign(slots_, groups_, capacity / 2, hashes, done);
    if (first_rows.numel() > 0) {
      for (size_t i = 0; i < keys.size(); ++i) keys_[i].append(take_rows(keys[i], first_rows), token);
      groups_ += first_rows.numel();
    }
    done += ids.numel();
    all_ids.push_back(std::move(ids));
    if (done >= hashes.numel()) break;
    grow_slots(capacity * kGrowth, token);
  }
  return all_ids.size() == 1 ? all_ids[0] : kernels::concatenate_tensors(all_ids);
}

std::vector<Column> GroupTable::keys() const {
  std::vector<Column> columns;
  for (const GrowingColumn& key : keys_) columns.push_back(key.view());
  return columns;
}

int64_t GroupTable::memory_bytes() const {
  int64_t bytes = static_cast<int64_t>(slots_.nbytes());
  for (const GrowingColumn& key : keys_) bytes += key.memory_bytes();
  return bytes;
}

int64_t GroupTable::most_bytes_with(int64_t rows) const {
  int64_t capacity = slots_.size(0);
  auto bytes = static_cast<int64_t>(slots_.nbytes());
  for (; groups_ + rows > capacity / 2; capacity *= kGrowth) bytes = (1 + kGrowth) * static_cast<int64_t>(sizeof(int64_t)) * 2 * capacity;
  // A full tensor is copied into one of twice the size; both exist meanwhile.
  for (const GrowingColumn& key : keys_) bytes += 3 * key.memory_bytes() + rows * kKeyBytes;
  return bytes;
}

}  // namespace pistachio
