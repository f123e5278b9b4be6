#include "catalog/distinct_texts.h"

#include <algorithm>
#include <cmath>

namespace pistachio {

namespace {

constexpr size_t kMaxChunks = 64;
constexpr double kLengthBytes = 4;   // before each value of a dictionary
constexpr double kHeaderBytes = 20;  // of a page, about

struct ChunkTexts {
  double values = 0;
  double distinct = 0;
};

// Solves for n, the entries of a chunk's dictionary: n values and `values` codes of log2(n) bits take `bytes`.
double dictionary_entries(double bytes, double values, double value_bytes) {
  // Page headers and levels.
  bytes -= 0.01 * bytes + 5 * kHeaderBytes;
  for (int width = 0; width < 32; ++width) {
    double most = std::exp2(width);
    double entries = (bytes - values * width / 8) / value_bytes;
    if (entries <= most) return std::clamp(entries, std::floor(most / 2) + 1, most);
  }
  return values;
}

std::optional<ChunkTexts> texts_of(const ColumnChunkInfo& chunk) {
  if (chunk.dictionary_bytes <= 0 || !chunk.minimum || !chunk.maximum) return std::nullopt;
  double least = static_cast<double>(chunk.minimum->text.size());
  double greatest = static_cast<double>(chunk.maximum->text.size());
  double value_bytes = (least + greatest) / 2 + kLengthBytes;
  double values = static_cast<double>(chunk.values);
  double entries = dictionary_entries(static_cast<double>(chunk.uncompressed_bytes), values, value_bytes);
  // Long runs shrink the codes but not the dictionary, whose compressed size is a lower bound.
  double at_least = (static_cast<double>(chunk.dictionary_bytes) - kHeaderBytes) / value_bytes;
  return ChunkTexts{values, std::clamp(std::max(entries, at_least), 1.0, std::max(1.0, values))};
}

}  // namespace

std::optional<double> estimate_distinct_texts(const ParquetTable& table, size_t column) {
  std::vector<const ColumnChunkInfo*> chunks;
  double rows = 0;
  for (const TableFile& file : table.files) {
    int leaf = file.leaf_of_column[column];
    if (leaf < 0) return std::nullopt;
    for (const RowGroupInfo& group : file.footer().row_groups) {
      if (group.rows > 0) chunks.push_back(&group.columns[static_cast<size_t>(leaf)]);
      rows += static_cast<double>(group.rows);
    }
  }
  double most = 0;
  double share = 0;  // distinct over all values, in the chunk where it is largest
  size_t step = chunks.size() / kMaxChunks + 1;
  for (size_t i = 0; i < chunks.size(); i += step) {
    std::optional<ChunkTexts> texts = texts_of(*chunks[i]);
    if (!texts) return std::nullopt;
    most = std::max(most, texts->distinct);
    share = std::max(share, texts->distinct / std::max(1.0, texts->values));
  }
  if (chunks.empty()) return std::nullopt;
  // If values repeat, all chunks have the same ones; if nearly every value is distinct, each chunk has its own.
  constexpr double kNearlyUnique = 0.5;
  return share > kNearlyUnique && chunks.size() > 1 ? share * rows : most;
}

}  // namespace pistachio
