#include "columns/concatenate_columns.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "columns/decode_dictionary.h"

namespace pistachio {

namespace {

at::Tensor concatenate_validity(const std::vector<Column>& pieces) {
  bool any = std::any_of(pieces.begin(), pieces.end(), [](const Column& piece) { return piece.has_validity(); });
  if (!any) return {};
  std::vector<at::Tensor> parts;
  for (const Column& piece : pieces)
    parts.push_back(piece.has_validity() ? piece.validity()
                                         : at::ones({piece.rows()}, at::TensorOptions(at::kBool).device(piece.device())));
  return at::cat(parts);
}

Column concatenate_text(const std::vector<Column>& pieces, at::Tensor validity) {
  std::vector<at::Tensor> bytes;
  std::vector<at::Tensor> begins;
  std::vector<at::Tensor> ends;
  int64_t shift = 0;
  for (const Column& piece : pieces) {
    // Pieces that share their bytes (slices of one page) need no second copy of them.
    bool shared = !bytes.empty() && bytes.back().is_same(piece.bytes());
    if (!shared) {
      if (!bytes.empty()) shift += bytes.back().numel();
      bytes.push_back(piece.bytes());
    }
    begins.push_back(shift == 0 ? piece.begins() : piece.begins() + shift);
    ends.push_back(shift == 0 ? piece.ends() : piece.ends() + shift);
  }
  at::Tensor all_bytes = bytes.size() == 1 ? bytes[0] : at::cat(bytes);
  return Column::text(pieces[0].type(), all_bytes, at::cat(begins), at::cat(ends), std::move(validity));
}

}  // namespace

Column concatenate_columns(const std::vector<Column>& pieces) {
  ENSURE(!pieces.empty());
  if (pieces.size() == 1) return pieces[0];
  at::Tensor validity = concatenate_validity(pieces);
  bool one_dictionary = std::all_of(pieces.begin(), pieces.end(), [&](const Column& piece) {
    return piece.is_dictionary() && pieces[0].is_dictionary() && piece.dictionary_column() == pieces[0].dictionary_column();
  });
  std::vector<at::Tensor> parts;
  if (one_dictionary) {
    for (const Column& piece : pieces) parts.push_back(piece.codes());
    return Column::dictionary(at::cat(parts), pieces[0].dictionary_column(), std::move(validity));
  }
  std::vector<Column> plain;
  for (const Column& piece : pieces) plain.push_back(decode_dictionary(piece));
  if (pieces[0].type().is_text()) return concatenate_text(plain, std::move(validity));
  for (const Column& piece : plain) parts.push_back(piece.values());
  return Column::fixed(pieces[0].type(), at::cat(parts), std::move(validity));
}

Column concatenate_coded(const std::vector<Column>& pieces) {
  ENSURE(!pieces.empty());
  bool all_coded = std::all_of(pieces.begin(), pieces.end(), [](const Column& piece) { return piece.is_dictionary(); });
  if (pieces.size() == 1 || !all_coded || !pieces[0].type().is_text()) return concatenate_columns(pieces);
  std::vector<Column> dictionaries;
  std::unordered_map<const Column*, int64_t> begins;  // where the entries of each dictionary start
  int64_t entries = 0;
  int64_t rows = 0;
  for (const Column& piece : pieces) {
    const Column& dictionary = *piece.dictionary_column();
    rows += piece.rows();
    if (!begins.try_emplace(&dictionary, entries).second) continue;
    dictionaries.push_back(dictionary);
    entries += dictionary.rows();
  }
  if (dictionaries.size() == 1 || entries > rows || entries > std::numeric_limits<int32_t>::max()) return concatenate_columns(pieces);
  std::vector<at::Tensor> codes;
  for (const Column& piece : pieces) {
    int64_t begin = begins.at(piece.dictionary_column().get());
    codes.push_back(begin == 0 ? piece.codes() : piece.codes() + begin);
  }
  auto dictionary = std::make_shared<const Column>(concatenate_columns(dictionaries));
  return Column::dictionary(at::cat(codes), std::move(dictionary), concatenate_validity(pieces));
}

}  // namespace pistachio
