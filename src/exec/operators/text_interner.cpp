#include "exec/operators/text_interner.h"

#include "columns/own_column.h"
#include "columns/row_selection.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Dictionaries cached at a time: every rank and row group may have its own, each of which is used for a while.
constexpr size_t kMaxDictionaries = 256;

}  // namespace

TextInterner::TextInterner(LogicalType type) : texts_({type}, at::kCPU) {}

at::Tensor TextInterner::numbers_of(const Column& texts, const CancelToken& token) {
  std::lock_guard lock(mutex_);
  // A dictionary with more entries than rows may have many texts that do not occur.
  const bool by_entries = texts.is_dictionary() && !texts.has_validity() && texts.dictionary_column()->rows() <= texts.rows();
  if (!by_entries && !(texts.is_dictionary() && known_.contains(texts.dictionary_column().get()) && !texts.has_validity()))
    return texts_.assign({texts}, texts.rows(), token);
  return numbers_of_entries(texts.dictionary_column(), token).index_select(0, texts.codes());
}

const at::Tensor& TextInterner::numbers_of_entries(const std::shared_ptr<const Column>& dictionary, const CancelToken& token) {
  auto found = known_.find(dictionary.get());
  if (found != known_.end() && found->second.dictionary.lock() == dictionary) return found->second.numbers;
  if (known_.size() >= kMaxDictionaries) {
    known_.clear();
    known_bytes_ = 0;
  }
  Known& known = known_[dictionary.get()];
  known = {dictionary, texts_.assign({*dictionary}, dictionary->rows(), token)};
  known_bytes_ += static_cast<int64_t>(known.numbers.nbytes());
  return known.numbers;
}

Column TextInterner::texts_of(const at::Tensor& numbers) {
  std::lock_guard lock(mutex_);
  const Column texts = texts_.keys()[0];
  // A dictionary pays if it is much smaller than the rows. Either way copies: the view of texts_ is invalidated by the next text.
  if (texts.rows() > numbers.numel() / 4 || texts.has_validity()) return own_column(take_rows(texts, numbers));
  return Column::dictionary(numbers.to(at::kInt), std::make_shared<Column>(own_column(texts)));
}

int64_t TextInterner::memory_bytes() {
  std::lock_guard lock(mutex_);
  return texts_.memory_bytes() + known_bytes_;
}

}  // namespace pistachio
