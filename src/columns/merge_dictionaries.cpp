#include "columns/merge_dictionaries.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "kernels/ops/dictionary_gather.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

bool is_wider_than_codes(LogicalType type) {
  return type.is_text() || type.value_bytes() > static_cast<int64_t>(sizeof(int32_t));
}

// Calls body(bytes) for each value of a plain column.
template <typename Body>
void for_each_value(const Column& column, const Body& body) {
  if (column.type().is_text()) {
    at::Tensor bytes = column.bytes().contiguous(), begins = column.begins().contiguous(), ends = column.ends().contiguous();
    const char* text = reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>());
    const int64_t *begin = begins.const_data_ptr<int64_t>(), *end = ends.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < column.rows(); ++i) body(std::string_view(text + begin[i], static_cast<size_t>(end[i] - begin[i])));
    return;
  }
  at::Tensor values = column.values().contiguous();
  const char* raw = static_cast<const char*>(values.const_data_ptr());
  const int64_t width = column.type().value_bytes();
  for (int64_t i = 0; i < column.rows(); ++i) body(std::string_view(raw + i * width, static_cast<size_t>(width)));
}

at::Tensor tensor_of(std::string_view bytes, at::ScalarType type) {
  at::Tensor made = at::empty({static_cast<int64_t>(bytes.size() / c10::elementSize(type))}, type);
  if (!bytes.empty()) std::memcpy(made.mutable_data_ptr(), bytes.data(), bytes.size());
  return made;
}

}  // namespace

std::vector<Column> DictionaryMerger::merge(std::vector<Column> pieces) {
  std::lock_guard lock(mutex_);
  if (!is_mergeable(pieces)) return pieces;
  std::erase_if(merged_, [](const auto& known) { return known.second.source.expired(); });
  for (const Column& piece : pieces) {
    if (add(piece.dictionary_column())) continue;
    give_up();
    return pieces;
  }
  // Also if an earlier call added values and then ran out of memory.
  if (dictionary_ == nullptr || dictionary_->rows() < static_cast<int64_t>(ends_.size())) dictionary_ = made_dictionary(pieces[0].type());
  for (Column& piece : pieces) {
    const Merged& known = merged_.at(piece.dictionary_column().get());
    piece = Column::dictionary(kernels::dictionary_gather(known.codes, piece.codes()), dictionary_, piece.validity());
  }
  return pieces;
}

bool DictionaryMerger::is_mergeable(const std::vector<Column>& pieces) const {
  if (gave_up_ || pieces.empty() || !is_wider_than_codes(pieces[0].type())) return false;
  bool are_coded = std::all_of(pieces.begin(), pieces.end(), [](const Column& piece) {
    return piece.is_dictionary() && piece.device().is_cpu() && !piece.dictionary_column()->has_validity();
  });
  if (!are_coded) return false;
  return dictionary_ != nullptr || std::any_of(pieces.begin(), pieces.end(), [&](const Column& piece) {
           return piece.dictionary_column() != pieces[0].dictionary_column();
         });
}

// False if there are too many values.
bool DictionaryMerger::add(const std::shared_ptr<const Column>& source) {
  if (merged_.contains(source.get())) return true;
  if (source->rows() > kMaxEntries) return false;
  at::Tensor codes = at::empty({source->rows()}, at::kInt);
  if (!find_places(*source, codes.mutable_data_ptr<int32_t>())) return false;
  merged_[source.get()] = {source, std::move(codes)};
  return true;
}

bool DictionaryMerger::find_places(const Column& source, int32_t* places) {
  bool fits = true;
  for_each_value(source, [&](std::string_view value) {
    if (!fits) return;
    auto [found, is_new] = places_.try_emplace(std::string(value), static_cast<int32_t>(ends_.size()));
    *places++ = found->second;
    if (!is_new) return;
    values_.append(value);
    ends_.push_back(static_cast<int64_t>(values_.size()));
    fits = ends_.size() <= static_cast<size_t>(kMaxEntries) && values_.size() <= static_cast<size_t>(kMaxBytes);
  });
  return fits;
}

void DictionaryMerger::give_up() {
  gave_up_ = true;
  merged_.clear();
  places_ = {};
  values_ = {};
  ends_ = {};
  dictionary_.reset();
}

std::shared_ptr<const Column> DictionaryMerger::made_dictionary(LogicalType type) const {
  auto entries = static_cast<int64_t>(ends_.size());
  if (!type.is_text()) {
    at::Tensor values = tensor_of(values_, type.scalar_type());
    return std::make_shared<const Column>(Column::fixed(type, type.is_wide() ? values.view({entries, 2}) : values));
  }
  at::Tensor offsets = at::zeros({entries + 1}, at::kLong);
  std::copy(ends_.begin(), ends_.end(), offsets.mutable_data_ptr<int64_t>() + 1);
  Column made = Column::text(type, tensor_of(values_, at::kByte), offsets.slice(0, 0, entries), offsets.slice(0, 1));
  return std::make_shared<const Column>(std::move(made));
}

std::vector<Chunk> ChunkDictionaryMerger::merge(const std::vector<Chunk>& pieces) {
  if (pieces.empty()) return {};
  std::vector<std::vector<Column>> columns(pieces.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::vector<Column> column;
    for (const Chunk& piece : pieces) {
      ENSURE_EQ(piece.column_count(), columns_.size());
      column.push_back(piece.column(i));
    }
    column = columns_[i].merge(std::move(column));
    for (size_t piece = 0; piece < pieces.size(); ++piece) columns[piece].push_back(std::move(column[piece]));
  }
  std::vector<Chunk> merged;
  for (size_t piece = 0; piece < pieces.size(); ++piece)
    merged.emplace_back(std::move(columns[piece]), pieces[piece].rows(), pieces[piece].device());
  return merged;
}

}  // namespace pistachio
