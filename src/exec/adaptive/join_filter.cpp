#include "exec/adaptive/join_filter.h"

#include <algorithm>
#include <cstring>

#include "base/byte_stream.h"
#include "base/error.h"
#include "columns/column_hash.h"
#include "columns/device_copy.h"
#include "columns/row_selection.h"
#include "kernels/ops/compress.h"
#include "kernels/ops/key_filter.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

enum class Told : uint8_t { NoRows, Anything, Keys };

// More keys than this for each word leave too few bits unset.
constexpr int64_t kMostKeysPerWord = 16;
// After so many rows it is known whether the filter drops enough.
constexpr int64_t kRowsToJudgeBy = 1 << 18;
constexpr double kUselessShare = 0.8;

// Types whose values are integers in their order, and that every column of files compares with as they are.
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
  note.put(Told::Keys);
  at::Tensor values = has_integer_bounds(keys[0]) ? keys[0].values() : at::Tensor();
  if (values.defined() && keys[0].has_validity()) values = kernels::compress(values, keys[0].validity());
  // NULLs find no partner, so a side of NULLs alone has no bounds, and none are needed.
  bool has_bounds = values.defined() && values.numel() > 0;
  note.put<bool>(has_bounds);
  if (has_bounds) {
    auto [least, greatest] = at::aminmax(values);
    note.put(least.to(at::kLong).item<int64_t>());
    note.put(greatest.to(at::kLong).item<int64_t>());
  }
  bool has_words = keys[0].rows() <= kMostKeysPerWord * words_count_;
  note.put<bool>(has_words);
  std::string text = note.take();
  if (has_words) {
    at::Tensor hashes = hash_rows(keys, token);
    at::Tensor words = at::zeros({words_count_}, hashes.options());
    kernels::key_filter_add(words, hashes);
    words = copied_to(words, at::kCPU);
    text.append(reinterpret_cast<const char*>(words.const_data_ptr<int64_t>()), words.nbytes());
  }
  put_own(std::move(text));
}

void JoinFilter::publish_nothing(bool has_no_rows) {
  ByteWriter note;
  note.put(has_no_rows ? Told::NoRows : Told::Anything);
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
  auto told = reader.get<Told>();
  writer.put(told);
  if (told != Told::Keys) return writer.take();
  bool has_bounds = reader.get<bool>();
  writer.put<bool>(has_bounds);
  if (has_bounds) {
    writer.put(reader.get<int64_t>());
    writer.put(reader.get<int64_t>());
  }
  writer.put<bool>(false);
  return writer.take();
}

// The words in a note are behind the rest.
at::Tensor JoinFilter::words_in(const std::string& note, size_t left) const {
  if (left != static_cast<size_t>(words_count_) * 8) throw PeerError("a rank told of a join filter of another size");
  at::Tensor words = at::empty({words_count_}, at::kLong);
  std::memcpy(words.mutable_data_ptr<int64_t>(), note.data() + (note.size() - left), left);
  return words;
}

void JoinFilter::merge(const std::vector<std::string>& notes, const std::string* own_words, at::Device device) {
  at::Tensor words = at::zeros({words_count_}, at::kLong);
  bool has_words = true;
  bool has_bounds = true;
  bool any_rows = false;
  for (const std::string& note : notes) {
    ByteReader reader(note);
    auto told = reader.get<Told>();
    if (told == Told::NoRows) continue;
    any_rows = true;
    if (told == Told::Anything) {
      has_words = has_bounds = false;
      break;
    }
    if (reader.get<bool>()) {
      auto least = reader.get<int64_t>();
      auto greatest = reader.get<int64_t>();
      bounds_ = bounds_ ? Bounds{std::min(bounds_->least, least), std::max(bounds_->greatest, greatest)} : Bounds{least, greatest};
    } else {
      has_bounds = false;
    }
    has_words = reader.get<bool>() && has_words;
    if (has_words) words.bitwise_or_(words_in(note, reader.left()));
  }
  if (own_words != nullptr) {
    ByteReader reader(*own_words);
    has_words = reader.get<Told>() == Told::Keys;
    if (has_words) {
      if (reader.get<bool>()) reader.get<int64_t>(), reader.get<int64_t>();
      has_words = reader.get<bool>();
    }
    if (has_words) words = words_in(*own_words, reader.left());
  }
  is_empty_ = !any_rows;
  if (has_words && any_rows) words_ = copied_to(words, device);
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
  return {{column, Comparison::GreaterEqual, text(bounds_->least)}, {column, Comparison::LessEqual, text(bounds_->greatest)}};
}

Chunk JoinFilter::passing(const Chunk& chunk, const std::vector<size_t>& places) {
  if (is_empty_) return chunk.slice(0, 0);
  if (!words_.defined()) return chunk;
  if (tested_ > kRowsToJudgeBy && static_cast<double>(passed_) > kUselessShare * static_cast<double>(tested_)) return chunk;
  std::vector<Column> keys;
  for (size_t place : places) keys.push_back(chunk.column(place));
  at::Tensor mask = kernels::key_filter_test(words_, hash_rows(keys));
  int64_t passed = kernels::count_true(mask);
  tested_ += chunk.rows();
  passed_ += passed;
  return select_rows(chunk, mask, passed);
}

}  // namespace pistachio
