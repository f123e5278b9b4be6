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

// The first byte of a published filter.
enum class Published : uint8_t { NoRows, Anything, Keys };
enum class KeySet : uint8_t { None, Bloom, Bitmap };

// A bitmap is exact and cheaper to test than a Bloom filter, so it may be larger, within limits: at least 128 KiB, at most 8 MiB.
constexpr int64_t kBitmapGrowth = 8;
constexpr int64_t kLeastBitmapWords = 1 << 14;
constexpr int64_t kMostBitmapWords = 1 << 20;

// With more keys per word nearly all bits are set, and the filter drops nothing.
constexpr int64_t kMostKeysPerWord = 16;
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

}  // namespace

void JoinFilter::publish_local(const std::vector<Column>& keys, const CancelToken& token) {
  if (keys[0].rows() == 0) return publish_nothing(true);
  ByteWriter note;
  note.put(Published::Keys);
  at::Tensor values = has_integer_bounds(keys[0]) ? keys[0].values() : at::Tensor();
  if (values.defined() && keys[0].has_validity()) values = kernels::compress(values, keys[0].validity());
  // NULL keys never match, so a build side of NULLs alone needs no bounds.
  bool has_bounds = values.defined() && values.numel() > 0;
  note.put<bool>(has_bounds);
  int64_t least = 0;
  int64_t greatest = 0;
  if (has_bounds) {
    const auto [lowest, highest] = at::aminmax(values);
    least = lowest.to(at::kLong).item<int64_t>();
    greatest = highest.to(at::kLong).item<int64_t>();
    note.put(least);
    note.put(greatest);
  }
  const bool is_bitmap = has_bounds && keys.size() == 1 && values.is_cpu() &&
                         word_of(greatest, bitmap_base(least)) < static_cast<uint64_t>(most_bitmap_words());
  const bool is_bloom = !is_bitmap && keys[0].rows() <= kMostKeysPerWord * words_count_;
  note.put(is_bitmap ? KeySet::Bitmap : is_bloom ? KeySet::Bloom : KeySet::None);
  std::string text = note.take();
  at::Tensor words;
  if (is_bitmap) {
    words = at::zeros({static_cast<int64_t>(word_of(greatest, bitmap_base(least))) + 1}, at::kLong);
    kernels::key_bitmap_add(words, values, bitmap_base(least));
  } else if (is_bloom) {
    at::Tensor hashes = hash_rows(keys, token);
    words = at::zeros({words_count_}, hashes.options());
    kernels::key_filter_add(words, hashes);
    words = copied_to(words, at::kCPU);
  }
  if (words.defined()) text.append(reinterpret_cast<const char*>(words.const_data_ptr<int64_t>()), words.nbytes());
  put_own(std::move(text));
}

int64_t JoinFilter::most_bitmap_words() const {
  return std::clamp(kBitmapGrowth * words_count_, kLeastBitmapWords, kMostBitmapWords);
}

void JoinFilter::publish_nothing(bool has_no_rows) {
  ByteWriter note;
  note.put(has_no_rows ? Published::NoRows : Published::Anything);
  put_own(note.take());
}

void JoinFilter::put_own(std::string note) {
  std::lock_guard lock(mutex_);
  if (own_) return;
  own_ = std::move(note);
  is_published_.close();
}

Task<std::string> JoinFilter::own() {
  Task<std::optional<int>> waiting = is_published_.receive();
  co_await waiting;
  std::lock_guard lock(mutex_);
  co_return own_.value_or("");
}

std::string JoinFilter::without_words(const std::string& note) {
  ByteReader reader(note);
  ByteWriter writer;
  auto published = reader.get<Published>();
  writer.put(published);
  if (published != Published::Keys) return writer.take();
  bool has_bounds = reader.get<bool>();
  writer.put<bool>(has_bounds);
  if (has_bounds) {
    writer.put(reader.get<int64_t>());
    writer.put(reader.get<int64_t>());
  }
  writer.put(KeySet::None);
  return writer.take();
}

// The words are the last part of a note.
JoinFilter::Keys JoinFilter::read_keys(ByteReader& reader, const std::string& note, const std::optional<Bounds>& bounds) const {
  const auto kind = reader.get<KeySet>();
  if (kind == KeySet::None) return {};
  const size_t left = reader.left();
  const bool is_bitmap = kind == KeySet::Bitmap && bounds && bounds->least <= bounds->greatest;
  const uint64_t words = is_bitmap ? word_of(bounds->greatest, bitmap_base(bounds->least)) + 1 : static_cast<uint64_t>(words_count_);
  if ((kind == KeySet::Bitmap && !is_bitmap) || left % 8 != 0 || left / 8 != words)
    throw PeerError("a rank published a join filter of another size");
  Keys keys;
  keys.words = at::empty({static_cast<int64_t>(words)}, at::kLong);
  std::memcpy(keys.words.mutable_data_ptr<int64_t>(), note.data() + (note.size() - left), left);
  if (is_bitmap) keys.base = bitmap_base(bounds->least);
  return keys;
}

// The result is a bitmap if all parts are bitmaps, their common range fits the size limit and the filter is tested on a CPU. Otherwise it
// is a Bloom filter, to which the values of the bitmaps are added.
JoinFilter::Keys JoinFilter::unite(std::vector<Keys> parts, at::Device device) const {
  bool are_bitmaps = device.is_cpu();
  for (const Keys& part : parts) {
    if (!part.words.defined()) return {};
    are_bitmaps = are_bitmaps && part.base.has_value();
  }
  if (parts.size() == 1 && (are_bitmaps || !parts[0].base)) return parts[0];
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
    if (values > kMostKeysPerWord * words_count_) return {};
    kernels::key_filter_add(all.words, kernels::hash64(present));
  }
  return all;
}

void JoinFilter::merge(const std::vector<std::string>& notes, const std::string* own_words, at::Device device) {
  std::vector<Keys> parts;
  bool has_bounds = true;
  bool any_rows = false;
  // Leaves the reader at the key set.
  auto read_bounds = [](ByteReader& reader) -> std::optional<Bounds> {
    if (!reader.get<bool>()) return std::nullopt;
    const auto least = reader.get<int64_t>();
    return Bounds{least, reader.get<int64_t>()};
  };
  for (const std::string& note : notes) {
    ByteReader reader(note);
    auto published = reader.get<Published>();
    if (published == Published::NoRows) continue;
    any_rows = true;
    if (published == Published::Anything) {
      parts.emplace_back();
      has_bounds = false;
      break;
    }
    const std::optional<Bounds> bounds = read_bounds(reader);
    has_bounds = has_bounds && bounds;
    if (bounds) bounds_ = bounds_ ? Bounds{std::min(bounds_->least, bounds->least), std::max(bounds_->greatest, bounds->greatest)} : *bounds;
    parts.push_back(read_keys(reader, note, bounds));
  }
  if (own_words != nullptr) {
    parts.clear();
    ByteReader reader(*own_words);
    if (reader.get<Published>() == Published::Keys) {
      const std::optional<Bounds> bounds = read_bounds(reader);
      parts.push_back(read_keys(reader, *own_words, bounds));
    }
  }
  is_empty_ = !any_rows;
  if (any_rows && !parts.empty()) keys_ = unite(std::move(parts), device);
  if (keys_.words.defined()) keys_.words = copied_to(keys_.words, device);
  if (!has_bounds) bounds_.reset();
  is_merged_.close();
}

Task<void> JoinFilter::wait() {
  Task<std::optional<int>> waiting = is_merged_.receive();
  co_await waiting;
}

std::vector<RangeFilter> JoinFilter::bounds(const std::string& column, LogicalType type) const {
  if (is_empty_ || !bounds_) return {};
  auto text = [&](int64_t value) { return ScalarValue::of_integer(type, value).to_string(); };
  const bool only_prunes = keys_.words.defined();
  return {{column, Comparison::GreaterEqual, text(bounds_->least), only_prunes},
          {column, Comparison::LessEqual, text(bounds_->greatest), only_prunes}};
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
