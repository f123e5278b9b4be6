#include "columns/column_assembly.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

const Column& entries_of(const Column& column) {
  return column.is_dictionary() ? *column.dictionary_column() : column;
}

}  // namespace

ColumnAssembly::ColumnAssembly(const std::vector<Column>& pieces) : pieces_(pieces.begin(), pieces.end()), type_(pieces.at(0).type()) {
  ENSURE(pieces[0].device().is_cpu());
  const auto is_coded_like_first = [&](const Column& piece) {
    return piece.is_dictionary() && pieces[0].is_dictionary() && piece.dictionary_column() == pieces[0].dictionary_column();
  };
  if (std::all_of(pieces.begin(), pieces.end(), is_coded_like_first)) dictionary_ = pieces[0].dictionary_column();
  int64_t rows = 0;
  bool has_nulls = false;
  for (const Column& piece : pieces) {
    rows_.push_back(rows);
    rows += piece.rows();
    has_nulls = has_nulls || piece.has_validity();
  }
  if (has_nulls) validity_ = at::empty({rows}, at::kBool);
  if (dictionary_ != nullptr) {
    main_ = at::empty({rows}, pieces[0].codes().options());
    return;
  }
  if (!type_.is_text()) {
    const at::TensorOptions options = entries_of(pieces[0]).values().options();
    main_ = type_.is_wide() ? at::empty({rows, 2}, options) : at::empty({rows}, options);
    return;
  }
  int64_t bytes = 0;
  const at::Tensor* former = nullptr;
  for (const Column& piece : pieces) {
    const at::Tensor& own = entries_of(piece).bytes();
    const bool is_shared = former != nullptr && former->is_same(own);
    brings_its_bytes_.push_back(!is_shared);
    bytes_.push_back(is_shared ? bytes_.back() : bytes);
    if (!is_shared) bytes += own.numel();
    former = &own;
  }
  begins_ = at::empty({rows}, at::kLong);
  ends_ = at::empty({rows}, at::kLong);
  main_ = at::empty({bytes}, at::kByte);
}

void ColumnAssembly::copy(size_t piece) {
  const Column column = *std::exchange(pieces_[piece], std::nullopt);
  const int64_t rows = column.rows();
  if (validity_.defined()) {
    at::Tensor target = validity_.narrow(0, rows_[piece], rows);
    if (column.has_validity()) {
      target.copy_(column.validity());
    } else {
      target.fill_(true);
    }
  }
  if (dictionary_ != nullptr) {
    main_.narrow(0, rows_[piece], rows).copy_(column.codes());
  } else if (type_.is_text()) {
    copy_text(piece, decode_dictionary(column));
  } else {
    main_.narrow(0, rows_[piece], rows).copy_(decode_dictionary(column).values());
  }
}

void ColumnAssembly::copy_text(size_t piece, const Column& column) {
  begins_.narrow(0, rows_[piece], column.rows()).copy_(column.begins()).add_(bytes_[piece]);
  ends_.narrow(0, rows_[piece], column.rows()).copy_(column.ends()).add_(bytes_[piece]);
  if (brings_its_bytes_[piece]) main_.narrow(0, bytes_[piece], column.bytes().numel()).copy_(column.bytes());
}

Column ColumnAssembly::finish() const {
  if (dictionary_ != nullptr) return Column::dictionary(main_, dictionary_, validity_);
  if (type_.is_text()) return Column::text(type_, main_, begins_, ends_, validity_);
  return Column::fixed(type_, main_, validity_);
}

}  // namespace pistachio
