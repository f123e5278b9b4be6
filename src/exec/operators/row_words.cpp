#include "exec/operators/row_words.h"

#include "base/check.h"
#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "columns/row_selection.h"
#include "kernels/ops/hash64.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

using kernels::MergeOp;

constexpr size_t kMostKeys = 63;  // bits in the null word

// One per state column; empty if the state cannot be encoded as words.
std::vector<MergeOp> merges_of(const AggregateCall& call) {
  const LogicalType type = argument_type(call);
  switch (call.function->kind) {
    case AggregateKind::CountRows:
    case AggregateKind::Count: return {MergeOp::AddInt64};
    case AggregateKind::Sum:
    case AggregateKind::Average: return {type.is_floating() ? MergeOp::AddDouble : MergeOp::AddInt128, MergeOp::AddInt64};
    case AggregateKind::Min:
    case AggregateKind::BoolAnd:
      if (type.is_wide() || type.is_text()) return {};
      return {type.is_floating() ? MergeOp::MinDouble : MergeOp::MinInt64};
    case AggregateKind::Max:
    case AggregateKind::BoolOr:
      if (type.is_wide() || type.is_text()) return {};
      return {type.is_floating() ? MergeOp::MaxDouble : MergeOp::MaxInt64};
    case AggregateKind::AnyValue:
      if (type.is_wide() || type.is_text()) return {};
      return {MergeOp::KeepFirst};
    case AggregateKind::BitAnd: return {MergeOp::And};
    case AggregateKind::BitOr: return {MergeOp::Or};
    case AggregateKind::BitXor: return {MergeOp::Xor};
    case AggregateKind::VarianceSample:
    case AggregateKind::VariancePopulation:
    case AggregateKind::StddevSample:
    case AggregateKind::StddevPopulation:
    case AggregateKind::ApproxCountDistinct: return {};
    case AggregateKind::CountIf: break;  // the binder makes it a count
  }
  fail_check(__FILE__, __LINE__, "unknown aggregate");
}

// Words per value: two for 128-bit types, else one; a text is represented by its number.
int64_t words_in(LogicalType type) {
  return type.is_wide() ? 2 : 1;
}

// int64 [rows] or [rows, 2]. Floating-point numbers become the bits of a double, which is exact for float too.
at::Tensor words_from(const at::Tensor& values) {
  if (values.is_floating_point()) return values.to(at::kDouble).contiguous().view(at::kLong);
  return values.to(at::kLong);
}

at::Tensor values_from(const at::Tensor& words, LogicalType type) {
  if (type.is_wide()) return words.contiguous();
  const at::Tensor column = words.select(1, 0).contiguous();
  return type.is_floating() ? column.view(at::kDouble).to(type.scalar_type()) : column.to(type.scalar_type());
}

at::Tensor either(const at::Tensor& one, const at::Tensor& other) {
  return one.defined() ? one.logical_or(other) : other;
}

}  // namespace

std::optional<RowWords> RowWords::of(const CombinedColumns& columns) {
  if (columns.keys.empty() || columns.keys.size() > kMostKeys) return std::nullopt;
  RowWords made;
  made.columns_ = columns.columns;
  for (size_t i = 0; i < columns.keys.size(); ++i) {
    Field& key = made.keys_.emplace_back();
    key.place = columns.keys[i];
    key.type = columns.key_types[i];
    key.word = made.width_;
    if (key.type.is_text()) key.texts = std::make_unique<TextNumbers>(key.type);
    made.width_ += words_in(key.type);
  }
  // The hash of a single word is exact, so the key itself need not be compared.
  const bool is_one_word = made.width_ == 2;
  if (is_one_word) made.merges_.push_back(MergeOp::KeepFirst);
  // A single key gets no null word: its NULLs are few and pass through unmerged.
  if (columns.keys.size() > 1) made.null_word_ = made.width_++;
  if (!is_one_word) made.key_words_ = made.width_ - 1;
  for (size_t i = 0; i < columns.calls.size(); ++i) {
    const std::vector<MergeOp> merges = merges_of(columns.calls[i]);
    if (merges.empty()) return std::nullopt;
    const std::vector<LogicalType> types = state_types(columns.calls[i]);
    for (size_t j = 0; j < merges.size(); ++j) {
      Field& state = made.states_.emplace_back();
      state.place = columns.states[i][j];
      state.type = types[j];
      state.word = made.width_;
      state.merge = merges[j];
      made.width_ += kernels::merge_op_words(merges[j]);
      made.merges_.push_back(merges[j]);
    }
  }
  return made;
}

at::Tensor RowWords::without_words(const Chunk& chunk) const {
  at::Tensor without;
  auto add_nulls = [&](const Field& field) {
    const Column& column = chunk.column(field.place);
    if (column.has_validity() && field.texts == nullptr) without = either(without, column.validity().logical_not());
  };
  if (null_word_ == 0) add_nulls(keys_[0]);
  for (const Field& state : states_) {
    add_nulls(state);
    if (state.merge != MergeOp::AddDouble) continue;
    const at::Tensor& sums = decode_dictionary(chunk.column(state.place)).values();
    without = either(without, sums.isfinite().logical_not());
  }
  return without.defined() && without.any().item<bool>() ? without : at::Tensor();
}

at::Tensor RowWords::key_of(const Field& field, const Column& column, const CancelToken& token) {
  if (field.texts != nullptr) return field.texts->numbers_of(column, token);
  const Column plain = decode_dictionary(column);
  at::Tensor words = words_from(plain.values());
  if (!plain.has_validity()) return words;
  // The value stored beneath a NULL must not distinguish keys.
  at::Tensor is_null = plain.validity().logical_not();
  return words.masked_fill(words.dim() == 2 ? is_null.unsqueeze(1) : is_null, 0);
}

at::Tensor RowWords::words_of(const Chunk& chunk, const CancelToken& token) {
  at::Tensor words = at::empty({chunk.rows(), width_}, at::kLong);
  auto put = [&](int64_t word, const at::Tensor& values) {
    if (values.dim() == 2)
      words.narrow(1, word, 2).copy_(values);
    else
      words.select(1, word).copy_(values);
  };
  at::Tensor hashes;
  auto add_to_hash = [&](const at::Tensor& values) {
    const at::Tensor own = kernels::hash64(values);
    hashes = hashes.defined() ? kernels::hash64_combine(hashes, own) : own;
  };
  at::Tensor nulls;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Column& column = chunk.column(keys_[i].place);
    const at::Tensor key = key_of(keys_[i], column, token);
    put(keys_[i].word, key);
    add_to_hash(key);
    if (null_word_ == 0 || !column.has_validity() || keys_[i].texts != nullptr) continue;
    const at::Tensor bit = column.validity().logical_not().to(at::kLong).mul_(int64_t{1} << i);
    nulls = nulls.defined() ? nulls.bitwise_or_(bit) : bit;
  }
  if (null_word_ != 0) {
    if (nulls.defined())
      put(null_word_, nulls);
    else
      words.select(1, null_word_).zero_();
  }
  if (nulls.defined()) add_to_hash(nulls);
  put(0, hashes);
  for (const Field& state : states_) put(state.word, words_from(decode_dictionary(chunk.column(state.place)).values()));
  return words;
}

Chunk RowWords::chunk_of(const at::Tensor& words) {
  std::vector<std::optional<Column>> placed(columns_);
  at::Tensor nulls;
  if (null_word_ != 0) {
    nulls = words.select(1, null_word_);
    if (!nulls.any().item<bool>()) nulls = at::Tensor();
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Field& key = keys_[i];
    if (key.texts != nullptr) {
      placed[key.place] = key.texts->texts_of(words.select(1, key.word).contiguous());
      continue;
    }
    at::Tensor valid;
    if (nulls.defined()) valid = nulls.bitwise_and(int64_t{1} << i).eq(0);
    placed[key.place] = Column::fixed(key.type, values_from(words.narrow(1, key.word, words_in(key.type)), key.type), valid);
  }
  for (const Field& state : states_) {
    at::Tensor values = values_from(words.narrow(1, state.word, kernels::merge_op_words(state.merge)), state.type);
    if (state.merge == MergeOp::AddDouble && !values.isfinite().all().item<bool>()) throw UserError("sum out of range");
    placed[state.place] = Column::fixed(state.type, std::move(values));
  }
  std::vector<Column> columns;
  for (std::optional<Column>& column : placed) columns.push_back(std::move(column.value()));
  return Chunk(std::move(columns), words.size(0), at::kCPU);
}

int64_t RowWords::text_bytes() const {
  int64_t bytes = 0;
  for (const Field& key : keys_) bytes += key.texts != nullptr ? key.texts->memory_bytes() : 0;
  return bytes;
}

void RowWords::forget_texts() {
  for (Field& key : keys_) {
    if (key.texts != nullptr) key.texts = std::make_unique<TextNumbers>(key.type);
  }
}

}  // namespace pistachio
