#include "exec/operators/radix_rows.h"

#include <algorithm>
#include <utility>

#include "columns/column_hash.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/own_column.h"
#include "exec/core/stoppable_call.h"
#include "kernels/ops/radix_scatter.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Enough for slices of a partition that cost more to copy than to find.
constexpr int64_t kBatchRows = 1 << 20;

// Whether most bytes that the column keeps alive are of its rows: they will be copied when the batch is ordered and need not be before.
bool is_compact_text(const Column& column) {
  if (!column.type().is_text() || column.is_dictionary()) return false;
  return column.bytes().numel() <= 2 * (column.ends() - column.begins()).sum().item<int64_t>();
}

// Where the rows of several chunks go when they are ordered by partition.
class RadixOrder {
 public:
  // The first `key_count` columns are the keys.
  RadixOrder(const std::vector<Chunk>& chunks, size_t key_count, const CancelToken& token) : token_(token) {
    at::Tensor counts = at::zeros({int64_t{1} << RadixRows::kBits}, at::kLong);
    for (const Chunk& rows : chunks) {
      hashes_.push_back(hash_rows({rows.columns().begin(), rows.columns().begin() + static_cast<std::ptrdiff_t>(key_count)}, token));
      places_.push_back(counts.clone());
      kernels::radix_count(counts, hashes_.back());
      rows_ += rows.rows();
    }
    const at::Tensor begins = counts.cumsum(0) - counts;
    for (at::Tensor& places : places_) places.add_(begins);
    offsets_ = kernels::concatenate_tensors({begins, at::tensor({rows_}, at::kLong)});
  }

  const at::Tensor& offsets() const { return offsets_; }

  // One column of the chunks, not coded, in this order. The bytes of text are in this order, too.
  Column apply(const std::vector<Column>& pieces) const {
    const LogicalType type = pieces[0].type();
    const bool has_nulls = std::any_of(pieces.begin(), pieces.end(), [](const Column& piece) { return piece.has_validity(); });
    const auto validity_of = [](const Column& piece) {
      return piece.has_validity() ? piece.validity() : at::ones({piece.rows()}, at::kBool);
    };
    const at::Tensor validity = has_nulls ? scatter(pieces, validity_of) : at::Tensor();
    if (!type.is_text()) return Column::fixed(type, scatter(pieces, [](const Column& piece) { return piece.values(); }), validity);
    std::vector<at::Tensor> bytes;
    std::vector<int64_t> shifts;  // of each piece, to where its bytes begin
    int64_t size = 0;
    for (const Column& piece : pieces) {
      bytes.push_back(piece.bytes());
      shifts.push_back(std::exchange(size, size + piece.bytes().numel()));
    }
    size_t begin_piece = 0;
    size_t end_piece = 0;
    const at::Tensor begins = scatter(pieces, [&](const Column& piece) { return piece.begins() + shifts[begin_piece++]; });
    const at::Tensor ends = scatter(pieces, [&](const Column& piece) { return piece.ends() + shifts[end_piece++]; });
    return own_column(Column::text(type, kernels::concatenate_tensors(bytes), begins, ends, validity));
  }

 private:
  template <typename ValuesOf>
  at::Tensor scatter(const std::vector<Column>& pieces, const ValuesOf& values_of) const {
    at::Tensor out;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const at::Tensor values = values_of(pieces[i]);
      if (!out.defined()) out = values.dim() == 2 ? at::empty({rows_, 2}, values.options()) : at::empty({rows_}, values.options());
      call_stoppable(token_, [&](const at::Tensor& stop) { kernels::radix_scatter(out, values, hashes_[i], places_[i], stop); });
    }
    return out;
  }

  const CancelToken& token_;
  std::vector<at::Tensor> hashes_;
  std::vector<at::Tensor> places_;  // of each chunk: where its rows of each partition begin
  at::Tensor offsets_;
  int64_t rows_ = 0;
};

// Without the bytes of other rows. The text of the rows is back to back.
Column own_rows(const Column& column, int64_t begin, int64_t count) {
  const Column part = column.slice(begin, count);
  if (!part.type().is_text()) return part;
  const int64_t first = part.begins().const_data_ptr<int64_t>()[0], last = part.ends().const_data_ptr<int64_t>()[count - 1];
  return Column::text(part.type(), part.bytes().narrow(0, first, last - first), part.begins() - first, part.ends() - first,
                      part.validity());
}

}  // namespace

void RadixRows::add(const Chunk& rows, const CancelToken& token) {
  std::vector<Column> columns;
  for (const Column& column : rows.columns()) {
    token.throw_if_cancelled();
    columns.push_back(is_compact_text(column) ? column : own_column(column));
  }
  waiting_.emplace_back(std::move(columns), rows.rows());
  const int64_t bytes = waiting_.back().memory_bytes();
  bytes_ += bytes;
  waiting_bytes_ += bytes;
  rows_ += rows.rows();
  waiting_rows_ += rows.rows();
  if (waiting_rows_ >= kBatchRows || waiting_bytes_ >= batch_bytes_) close(token);
}

void RadixRows::close(const CancelToken& token) {
  if (waiting_.empty()) return;
  const RadixOrder order(waiting_, key_count_, token);
  std::vector<Column> columns;
  for (size_t i = 0; i < waiting_[0].column_count(); ++i) {
    std::vector<Column> pieces;
    for (const Chunk& rows : waiting_) pieces.push_back(decode_dictionary(rows.column(i)));
    columns.push_back(order.apply(pieces));
  }
  bytes_ -= std::exchange(waiting_bytes_, 0);
  waiting_.clear();
  Chunk batch(std::move(columns), std::exchange(waiting_rows_, 0));
  at::Tensor offsets = order.offsets();
  bytes_ += batch.memory_bytes() + static_cast<int64_t>(offsets.nbytes());
  batches_.push_back({std::move(batch), std::move(offsets)});
}

Chunk partition_of(const std::vector<const RadixRows*>& stores, int64_t partition, int64_t bits, const CancelToken& token) {
  std::vector<std::vector<Column>> pieces;  // of each column
  int64_t rows = 0;
  const int64_t shift = RadixRows::kBits - bits;
  for (const RadixRows* store : stores) {
    for (const RadixRows::Batch& piece : store->batches_) {
      const int64_t* offsets = piece.offsets.const_data_ptr<int64_t>();
      const int64_t begin = offsets[partition << shift], count = offsets[(partition + 1) << shift] - begin;
      if (count == 0) continue;
      pieces.resize(piece.rows.column_count());
      for (size_t i = 0; i < pieces.size(); ++i) pieces[i].push_back(own_rows(piece.rows.column(i), begin, count));
      rows += count;
    }
  }
  std::vector<Column> columns;
  for (const std::vector<Column>& column : pieces) columns.push_back(concatenate_columns(column, token));
  return Chunk(std::move(columns), rows);
}

}  // namespace pistachio
