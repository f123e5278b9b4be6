#include "exec/adaptive/join_filter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "columns/column_hash.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/key_bitmap.h"
#include "kernels/ops/key_filter.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

enum class KeySet : uint8_t { None, Bloom, Bitmap };

// A bitmap is exact and cheaper to test than a Bloom filter, so it may be larger, within limits: at least 128 KiB, at most 8 MiB.
constexpr int64_t kBitmapGrowth = 8;
constexpr int64_t kMinBitmapWords = 1 << 14;
constexpr int64_t kMaxBitmapWords = 1 << 20;

// With more keys per word nearly all bits are set, and the filter drops nothing.
constexpr int64_t kMaxKeysPerWord = 16;
// Rows tested before a filter that passes more than kUselessShare of them is switched off.
constexpr int64_t kRowsToJudgeBy = 1 << 18;
constexpr double kUselessShare = 0.8;

// Index of the bitmap word that holds the bit of `value`. Unsigned arithmetic: the distance of two int64 values may not fit into one.
uint64_t word_of(int64_t value, int64_t base) {
  return (static_cast<uint64_t>(value) - static_cast<uint64_t>(base)) >> 6;
}

// The value of a bitmap's first bit: `least` rounded down to a multiple of 64, so that bitmaps with different bounds can be ORed by word.
int64_t bitmap_base(int64_t least) {
  return least & ~int64_t{63};
}

int64_t bitmap_words(int64_t least, int64_t greatest) {
  return static_cast<int64_t>(word_of(greatest, bitmap_base(least))) + 1;
}

at::Tensor values_in_bitmap(const at::Tensor& words, int64_t base) {
  std::vector<int64_t> values;
  const int64_t* word = words.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < words.numel(); ++i) {
    for (auto bits = static_cast<uint64_t>(word[i]); bits != 0; bits &= bits - 1) values.push_back(base + 64 * i + std::countr_zero(bits));
  }
  return at::tensor(values, at::kLong);
}

// Types stored as integers in value order, so that their bounds can be compared with the statistics of files.
bool has_integer_bounds(const Column& key) {
  if (key.is_dictionary()) return false;
  switch (key.type().kind()) {
    case TypeKind::SmallInt:
    case TypeKind::Integer:
    case TypeKind::BigInt:
    case TypeKind::Date: return true;
    default: return false;
  }
}

// Undefined: not integers.
at::Tensor non_null_integers(const Column& key) {
  if (!has_integer_bounds(key)) return {};
  return key.has_validity() ? kernels::compress(key.values(), key.validity()) : key.values();
}

}  // namespace

void JoinFilter::publish_local(const std::vector<Column>& keys, const CancelToken& token) {
  const int64_t rows = keys[0].rows();
  if (rows == 0) return publish_nothing(true);
  Local local{Published::Keys, {}, {}};
  at::Tensor values;
  for (const Column& key : keys) {
    values = non_null_integers(key);
    std::optional<Bounds>& bounds = local.bounds.emplace_back();
    // NULL keys never match, so a build side of NULLs alone needs no bounds.
    if (!values.defined() || values.numel() == 0) continue;
    const auto [lowest, highest] = at::aminmax(values);
    const at::Tensor both = copied_to(at::stack({lowest, highest}).to(at::kLong), at::kCPU);
    bounds = Bounds{both.const_data_ptr<int64_t>()[0], both.const_data_ptr<int64_t>()[1]};
  }
  const std::optional<Bounds> only = keys.size() == 1 ? local.bounds[0] : std::nullopt;
  if (only && bitmap_words(only->least, only->greatest) <= most_bitmap_words()) {
    local.keys = {at::zeros({bitmap_words(only->least, only->greatest)}, values.options().dtype(at::kLong)), bitmap_base(only->least)};
    kernels::key_bitmap_add(local.keys.words, values, *local.keys.base);
  } else {
    const int64_t words = is_exchanged_ ? words_count_ : std::max(words_count_, kernels::key_filter_words(rows));
    if (rows <= kMaxKeysPerWord * words) {
      const at::Tensor hashes = hash_rows(keys, token);
      local.keys.words = at::zeros({words}, hashes.options());
      kernels::key_filter_add(local.keys.words, hashes);
    }
  }
  publish(std::move(local));
}

int64_t JoinFilter::most_bitmap_words() const {
  return std::clamp(kBitmapGrowth * words_count_, kMinBitmapWords, kMaxBitmapWords);
}

void JoinFilter::publish_nothing(bool has_no_rows) {
  publish({has_no_rows ? Published::NoRows : Published::Anything, {}, {}});
}

void JoinFilter::publish(Local local) {
  std::lock_guard lock(mutex_);
  if (local_) return;
  local_ = std::move(local);
  is_published_.close();
}

Task<void> JoinFilter::local() {
  Task<std::optional<int>> waiting = is_published_.receive();
  co_await waiting;
}

void JoinFilter::use_local() {
  is_empty_ = local_->published == Published::NoRows;
  keys_ = local_->keys;
  bounds_ = local_->bounds;
  is_merged_.close();
}

// What kind of set follows is not part of it.
ByteWriter JoinFilter::begin_note() const {
  ByteWriter note;
  note.put(local_->published);
  if (local_->published != Published::Keys) return note;
  note.put<uint64_t>(local_->bounds.size());
  for (const std::optional<Bounds>& bounds : local_->bounds) {
    note.put<bool>(bounds.has_value());
    if (!bounds) continue;
    note.put(bounds->least);
    note.put(bounds->greatest);
  }
  return note;
}

std::string JoinFilter::note() const {
  ByteWriter note = begin_note();
  if (local_->published != Published::Keys) return note.take();
  const Keys& keys = local_->keys;
  note.put(!keys.words.defined() ? KeySet::None : keys.base ? KeySet::Bitmap : KeySet::Bloom);
  std::string text = note.take();
  if (!keys.words.defined()) return text;
  const at::Tensor words = copied_to(keys.words, at::kCPU);
  text.append(reinterpret_cast<const char*>(words.const_data_ptr<int64_t>()), words.nbytes());
  return text;
}

std::string JoinFilter::note_of_bounds() const {
  ByteWriter note = begin_note();
  if (local_->published == Published::Keys) note.put(KeySet::None);
  return note.take();
}

JoinFilter::Local JoinFilter::read_note(ByteReader& reader) {
  Local read{reader.get<Published>(), {}, {}};
  if (read.published != Published::Keys) return read;
  const size_t keys = reader.get_count(1);
  for (size_t key = 0; key < keys; ++key) {
    std::optional<Bounds>& bounds = read.bounds.emplace_back();
    if (!reader.get<bool>()) continue;
    const auto least = reader.get<int64_t>();
    bounds = Bounds{least, reader.get<int64_t>()};
  }
  return read;
}

// The words are the last part of a note.
JoinFilter::Keys JoinFilter::read_keys(ByteReader& reader, const std::string& note,
                                       const std::vector<std::optional<Bounds>>& bounds) const {
  const auto kind = reader.get<KeySet>();
  if (kind == KeySet::None) return {};
  const size_t left = reader.left();
  const std::optional<Bounds> only = bounds.size() == 1 ? bounds[0] : std::nullopt;
  const bool is_bitmap = kind == KeySet::Bitmap && only && only->least <= only->greatest;
  const int64_t words = is_bitmap ? bitmap_words(only->least, only->greatest) : words_count_;
  if ((kind == KeySet::Bitmap && !is_bitmap) || left % 8 != 0 || left / 8 != static_cast<size_t>(words))
    throw PeerError("a rank published a join filter of another size");
  Keys keys;
  keys.words = at::empty({words}, at::kLong);
  std::memcpy(keys.words.mutable_data_ptr<int64_t>(), note.data() + (note.size() - left), left);
  if (is_bitmap) keys.base = bitmap_base(only->least);
  return keys;
}

// The result is a bitmap if all parts are bitmaps and their common range fits the size limit. Otherwise it is a Bloom filter, to which the
// values of the bitmaps are added.
JoinFilter::Keys JoinFilter::unite(std::vector<Keys> parts) const {
  bool are_bitmaps = true;
  for (const Keys& part : parts) {
    if (!part.words.defined()) return {};
    are_bitmaps = are_bitmaps && part.base.has_value();
  }
  if (parts.size() == 1) return parts[0];
  if (are_bitmaps) {
    int64_t base = *parts[0].base;
    for (const Keys& part : parts) base = std::min(base, *part.base);
    uint64_t words = 0;
    for (const Keys& part : parts) words = std::max(words, word_of(*part.base, base) + static_cast<uint64_t>(part.words.numel()));
    if (words <= static_cast<uint64_t>(most_bitmap_words())) {
      Keys all{at::zeros({static_cast<int64_t>(words)}, at::kLong), base};
      for (const Keys& part : parts)
        all.words.narrow(0, static_cast<int64_t>(word_of(*part.base, base)), part.words.numel()).bitwise_or_(part.words);
      return all;
    }
  }
  Keys all{at::zeros({words_count_}, at::kLong), std::nullopt};
  int64_t values = 0;
  for (const Keys& part : parts) {
    if (!part.base) {
      all.words.bitwise_or_(part.words);
      continue;
    }
    const at::Tensor present = values_in_bitmap(part.words, *part.base);
    values += present.numel();
    if (values > kMaxKeysPerWord * words_count_) return {};
    kernels::key_filter_add(all.words, kernels::hash64(present));
  }
  return all;
}

std::vector<JoinFilter::Keys> JoinFilter::merge_bounds(const std::vector<std::string>& notes, bool with_keys) {
  std::vector<Keys> parts;
  is_empty_ = true;
  for (const std::string& note : notes) {
    ByteReader reader(note);
    const Local read = read_note(reader);
    if (read.published == Published::NoRows) continue;
    if (read.published == Published::Anything) {
      is_empty_ = false;
      bounds_.clear();
      parts.emplace_back();
      return parts;
    }
    if (is_empty_)
      bounds_ = read.bounds;
    else
      add_bounds(read.bounds);
    is_empty_ = false;
    if (with_keys) parts.push_back(read_keys(reader, note, read.bounds));
  }
  return parts;
}

// A key without bounds on one rank has none.
void JoinFilter::add_bounds(const std::vector<std::optional<Bounds>>& bounds) {
  if (bounds.size() != bounds_.size()) throw PeerError("a rank published a join filter of other keys");
  for (size_t key = 0; key < bounds.size(); ++key) {
    std::optional<Bounds>& all = bounds_[key];
    const std::optional<Bounds>& more = bounds[key];
    all = all && more ? std::optional(Bounds{std::min(all->least, more->least), std::max(all->greatest, more->greatest)}) : std::nullopt;
  }
}

void JoinFilter::merge(const std::vector<std::string>& notes, at::Device device) {
  std::vector<Keys> parts = merge_bounds(notes, true);
  if (!parts.empty()) keys_ = unite(std::move(parts));
  if (keys_.words.defined()) keys_.words = copied_to(keys_.words, device);
  is_merged_.close();
}

void JoinFilter::merge_bounds_only(const std::vector<std::string>& notes) {
  merge_bounds(notes, false);
  if (!is_empty_) keys_ = local_->keys;
  is_merged_.close();
}

Task<void> JoinFilter::wait() {
  Task<std::optional<int>> waiting = is_merged_.receive();
  co_await waiting;
}

std::vector<RangeFilter> JoinFilter::bounds(size_t key, const std::string& column, LogicalType type) const {
  if (is_empty_ || key >= bounds_.size() || !bounds_[key]) return {};
  auto text = [&](int64_t value) { return ScalarValue::of_integer(type, value).to_string(); };
  const bool only_prunes = keys_.words.defined();
  return {{column, Comparison::GreaterEqual, text(bounds_[key]->least), only_prunes},
          {column, Comparison::LessEqual, text(bounds_[key]->greatest), only_prunes}};
}

at::Tensor JoinFilter::test(const std::vector<Column>& keys) {
  const int64_t rows = keys[0].rows();
  if (is_empty_) return at::zeros({rows}, at::TensorOptions(at::kBool).device(keys[0].device()));
  if (!keys_.words.defined()) return {};
  if (tested_ > kRowsToJudgeBy && static_cast<double>(passed_) > kUselessShare * static_cast<double>(tested_)) return {};
  at::Tensor mask;
  if (keys_.base) {
    const Column& key = keys[0];
    mask = key.is_dictionary()
               ? kernels::dictionary_gather(kernels::key_bitmap_test(keys_.words, key.dictionary_column()->values(), *keys_.base), key.codes())
               : kernels::key_bitmap_test(keys_.words, key.values(), *keys_.base);
    if (key.has_validity()) mask.logical_and_(key.validity());
  } else {
    mask = kernels::key_filter_test(keys_.words, hash_rows(keys));
  }
  tested_ += rows;
  passed_ += kernels::count_true(mask);
  return mask;
}

Chunk JoinFilter::passing(const Chunk& chunk, const std::vector<size_t>& places) {
  std::vector<Column> keys;
  for (size_t place : places) keys.push_back(chunk.column(place));
  const at::Tensor mask = test(keys);
  return mask.defined() ? select_rows(chunk, mask) : chunk;
}

}  // namespace pistachio
