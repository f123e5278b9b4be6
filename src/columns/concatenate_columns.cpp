#include "columns/concatenate_columns.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "columns/decode_dictionary.h"
#include "kernels/ops/tensor_functions.h"

namespace pistachio {

namespace {

// Bytes copied between two polls of the token: some 30 ms, most of it for the first touch of new memory.
constexpr int64_t kBytesPerCopy = 64 << 20;

at::Tensor concatenate_tensors(const std::vector<at::Tensor>& parts, const CancelToken& token) {
  int64_t bytes = 0;
  int64_t rows = 0;
  for (const at::Tensor& part : parts) {
    bytes += static_cast<int64_t>(part.nbytes());
    rows += part.size(0);
  }
  if (bytes <= kBytesPerCopy || !parts[0].is_cpu()) return kernels::concatenate_tensors(parts);
  std::vector<int64_t> shape = parts[0].sizes().vec();
  shape[0] = rows;
  at::Tensor all = at::empty(shape, parts[0].options());
  const int64_t step = std::max<int64_t>(1, kBytesPerCopy / (bytes / rows + 1));
  int64_t row = 0;
  for (const at::Tensor& part : parts) {
    for (int64_t begin = 0; begin < part.size(0); begin += step) {
      token.throw_if_cancelled();
      const int64_t count = std::min(step, part.size(0) - begin);
      all.narrow(0, row, count).copy_(part.narrow(0, begin, count));
      row += count;
    }
  }
  return all;
}

at::Tensor concatenate_validity(const std::vector<Column>& pieces, const CancelToken& token) {
  bool any = std::any_of(pieces.begin(), pieces.end(), [](const Column& piece) { return piece.has_validity(); });
  if (!any) return {};
  std::vector<at::Tensor> parts;
  for (const Column& piece : pieces)
    parts.push_back(piece.has_validity() ? piece.validity()
                                         : at::ones({piece.rows()}, at::TensorOptions(at::kBool).device(piece.device())));
  return concatenate_tensors(parts, token);
}

Column concatenate_text(const std::vector<Column>& pieces, at::Tensor validity, const CancelToken& token) {
  std::vector<at::Tensor> bytes;
  std::vector<at::Tensor> begins;
  std::vector<at::Tensor> ends;
  int64_t shift = 0;
  for (const Column& piece : pieces) {
    token.throw_if_cancelled();
    // Pieces that share their bytes (slices of one page) need no second copy of them.
    bool shared = !bytes.empty() && bytes.back().is_same(piece.bytes());
    if (!shared) {
      if (!bytes.empty()) shift += bytes.back().numel();
      bytes.push_back(piece.bytes());
    }
    begins.push_back(shift == 0 ? piece.begins() : piece.begins() + shift);
    ends.push_back(shift == 0 ? piece.ends() : piece.ends() + shift);
  }
  at::Tensor all_bytes = bytes.size() == 1 ? bytes[0] : concatenate_tensors(bytes, token);
  return Column::text(pieces[0].type(), all_bytes, concatenate_tensors(begins, token), concatenate_tensors(ends, token),
                      std::move(validity));
}

}  // namespace

Column concatenate_columns(const std::vector<Column>& pieces, const CancelToken& token) {
  ENSURE(!pieces.empty());
  if (pieces.size() == 1) return pieces[0];
  at::Tensor validity = concatenate_validity(pieces, token);
  bool one_dictionary = std::all_of(pieces.begin(), pieces.end(), [&](const Column& piece) {
    return piece.is_dictionary() && pieces[0].is_dictionary() && piece.dictionary_column() == pieces[0].dictionary_column();
  });
  std::vector<at::Tensor> parts;
  if (one_dictionary) {
    for (const Column& piece : pieces) parts.push_back(piece.codes());
    return Column::dictionary(concatenate_tensors(parts, token), pieces[0].dictionary_column(), std::move(validity));
  }
  std::vector<Column> plain;
  for (const Column& piece : pieces) {
    token.throw_if_cancelled();
    plain.push_back(decode_dictionary(piece));
  }
  if (pieces[0].type().is_text()) return concatenate_text(plain, std::move(validity), token);
  for (const Column& piece : plain) parts.push_back(piece.values());
  return Column::fixed(pieces[0].type(), concatenate_tensors(parts, token), std::move(validity));
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
  return Column::dictionary(kernels::concatenate_tensors(codes), std::move(dictionary), concatenate_validity(pieces, {}));
}

}  // namespace pistachio
