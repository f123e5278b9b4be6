#include "exec/operators/row_words.h"

#include "base/check.h"
#include "base/error.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

using kernels::MergeOp;

constexpr size_t kMaxKeys = 63;  // bits in the null word

// Of the words of the state columns; empty if the state cannot be encoded as words.
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
    case AggregateKind::StddevPopulation: return {MergeOp::AddMoments};
    case AggregateKind::ApproxCountDistinct: return {};
    case AggregateKind::Ordered:         // the optimizer lowers it
    case AggregateKind::CountIf: break;  // the binder makes it a count
  }
  fail_check(__FILE__, __LINE__, "unknown aggregate");
}

// Whether merging may yield a non-finite number, an error, which a row with one must not look like.
bool adds_doubles(MergeOp merge) {
  return merge == MergeOp::AddDouble || merge == MergeOp::AddMoments;
}

at::Tensor either(const at::Tensor& one, const at::Tensor& other) {
  return one.defined() ? one.logical_or(other) : other;
}

}  // namespace

std::optional<RowWords> RowWords::of(const CombinedColumns& columns) {
  if (columns.keys.empty() || columns.keys.size() > kMaxKeys) return std::nullopt;
  RowWords made;
  made.columns_ = columns.columns;
  auto add_column = [&](LogicalType type) {
    // A text is represented by its number.
    made.word_columns_.push_back({type.is_text() ? at::kLong : type.scalar_type(), type.is_wide()});
    made.width_ += type.is_wide() ? 2 : 1;
  };
  for (size_t i = 0; i < columns.keys.size(); ++i) {
    Field& key = made.keys_.emplace_back();
    key.place = columns.keys[i];
    key.type = columns.key_types[i];
    if (key.type.is_text()) key.texts = std::make_unique<TextInterner>(key.type);
    add_column(key.type);
  }
  // The hash of a single word is exact, so the key itself need not be compared. It is stored only if it cannot be computed from the hash:
  // hashes do not distinguish zeros of different signs.
  const LogicalType first = made.keys_[0].type;
  const bool is_one_word = columns.keys.size() == 1 && !first.is_wide();
  made.layout_ = {.keys = static_cast<int64_t>(columns.keys.size()), .keep_key = !is_one_word || first.is_floating(), .turn = kTurn};
  if (!made.layout_.keep_key) made.width_ = 1;
  if (is_one_word && made.layout_.keep_key) made.merges_.push_back(MergeOp::KeepFirst);
  // A single key gets no null word: its NULLs are few and pass through unmerged.
  made.has_null_word_ = columns.keys.size() > 1;
  if (made.has_null_word_) add_column(TypeKind::BigInt);
  if (!is_one_word) made.key_words_ = made.width_ - 1;
  for (size_t i = 0; i < columns.calls.size(); ++i) {
    const std::vector<MergeOp> merges = merges_of(columns.calls[i]);
    if (merges.empty()) return std::nullopt;
    const std::vector<LogicalType> types = state_types(columns.calls[i]);
    size_t column = 0;
    for (const MergeOp merge : merges) {
      made.merges_.push_back(merge);
      for (int64_t words = kernels::merge_op_words(merge); words > 0; ++column) {
        Field& state = made.states_.emplace_back();
        state.place = columns.states[i][column];
        state.type = types[column];
        state.merge = merge;
        add_column(state.type);
        words -= state.type.is_wide() ? 2 : 1;
      }
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
  if (!has_null_word_) add_nulls(keys_[0]);
  for (const Field& state : states_) {
    add_nulls(state);
    if (!adds_doubles(state.merge)) continue;
    const at::Tensor& sums = decode_dictionary(chunk.column(state.place)).values();
    without = either(without, sums.isfinite().logical_not());
  }
  return without.defined() && without.any().item<bool>() ? without : at::Tensor();
}

at::Tensor RowWords::key_of(const Field& field, const Column& column, const CancelToken& token) {
  if (field.texts != nullptr) return field.texts->numbers_of(column, token);
  const Column plain = decode_dictionary(column);
  if (!plain.has_validity()) return plain.values();
  // The value stored beneath a NULL must not distinguish keys.
  const at::Tensor is_null = plain.validity().logical_not();
  return plain.values().masked_fill(plain.values().dim() == 2 ? is_null.unsqueeze(1) : is_null, 0);
}

at::Tensor RowWords::null_bits_of(const Chunk& chunk) const {
  at::Tensor nulls;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Column& column = chunk.column(keys_[i].place);
    if (!column.has_validity() || keys_[i].texts != nullptr) continue;
    const at::Tensor bit = column.validity().logical_not().to(at::kLong).mul_(int64_t{1} << i);
    nulls = nulls.defined() ? nulls.bitwise_or_(bit) : bit;
  }
  return nulls.defined() ? nulls : at::zeros({chunk.rows()}, at::kLong);
}

std::tuple<at::Tensor, at::Tensor> RowWords::words_of(const Chunk& chunk, int64_t bits, const CancelToken& token) {
  std::vector<at::Tensor> columns;
  columns.reserve(word_columns_.size());
  for (const Field& key : keys_) columns.push_back(key_of(key, chunk.column(key.place), token));
  if (has_null_word_) columns.push_back(null_bits_of(chunk));
  for (const Field& state : states_) columns.push_back(decode_dictionary(chunk.column(state.place)).values());
  return kernels::pack_words(columns, layout_, bits);
}

Chunk RowWords::chunk_of(const std::vector<at::Tensor>& pieces) {
  std::vector<at::Tensor> values = kernels::unpack_words(pieces, word_columns_, layout_);
  const int64_t rows = values[0].size(0);
  at::Tensor nulls;
  if (has_null_word_ && values[keys_.size()].any().item<bool>()) nulls = values[keys_.size()];
  std::vector<std::optional<Column>> placed(columns_);
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Field& key = keys_[i];
    if (key.texts != nullptr) {
      placed[key.place] = key.texts->texts_of(values[i]);
      continue;
    }
    at::Tensor valid;
    if (nulls.defined()) valid = nulls.bitwise_and(int64_t{1} << i).eq(0);
    placed[key.place] = Column::fixed(key.type, std::move(values[i]), valid);
  }
  const size_t first_state = keys_.size() + (has_null_word_ ? 1 : 0);
  for (size_t i = 0; i < states_.size(); ++i) {
    const Field& state = states_[i];
    at::Tensor& sums = values[first_state + i];
    if (adds_doubles(state.merge) && !sums.isfinite().all().item<bool>())
      throw UserError(state.merge == MergeOp::AddMoments ? "variance out of range" : "sum out of range");
    placed[state.place] = Column::fixed(state.type, std::move(sums));
  }
  std::vector<Column> columns;
  for (std::optional<Column>& column : placed) columns.push_back(std::move(column.value()));
  return Chunk(std::move(columns), rows, at::kCPU);
}

int64_t RowWords::text_bytes() const {
  int64_t bytes = 0;
  for (const Field& key : keys_) bytes += key.texts != nullptr ? key.texts->memory_bytes() : 0;
  return bytes;
}

void RowWords::forget_texts() {
  for (Field& key : keys_) {
    if (key.texts != nullptr) key.texts = std::make_unique<TextInterner>(key.type);
  }
}

}  // namespace pistachio
