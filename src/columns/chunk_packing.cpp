#include "columns/chunk_packing.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/byte_stream.h"
#include "base/check.h"
#include "columns/concatenate_columns.h"
#include "columns/decode_dictionary.h"
#include "columns/device_copy.h"
#include "kernels/ops/host_memory.h"
#include "kernels/ops/tensor_functions.h"
#include "kernels/ops/text_compact.h"

namespace pistachio {

namespace {

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

enum class Form : uint8_t { Fixed, Text, Dictionary, ApartDictionary };

// Layout: descriptions of all columns with the lengths of their buffers, then the buffers.
class Packer {
 public:
  Packer(ExternalDictionaryLimits limits, bool may_be_pinned) : limits_(limits), may_be_pinned_(may_be_pinned) {}

  PackedChunk pack(const std::vector<Chunk>& chunks) {
    ENSURE(!chunks.empty());
    int64_t rows = 0;
    for (const Chunk& chunk : chunks) rows += chunk.rows();
    description_.put<int64_t>(rows);
    description_.put<uint64_t>(chunks[0].column_count());
    for (size_t i = 0; i < chunks[0].column_count(); ++i) {
      std::vector<Column> pieces;
      pieces.reserve(chunks.size());
      for (const Chunk& chunk : chunks) pieces.push_back(chunk.column(i));
      if (std::all_of(pieces.begin(), pieces.end(), is_fixed)) {
        add_fixed(pieces, rows);
      } else {
        add_or_put_apart(concatenate_columns(pieces));
      }
    }
    return {block(chunks[0].device()), std::move(dictionaries_)};
  }

 private:
  // Consecutive bytes of the block.
  struct Buffer {
    std::vector<at::Tensor> parts;
    int64_t bytes = 0;
  };

  at::Tensor block(at::Device device) {
    int64_t front = aligned(static_cast<int64_t>(sizeof(uint64_t) + description_.bytes().size()));
    int64_t total = front;
    for (const Buffer& buffer : buffers_) total += aligned(buffer.bytes);
    at::Tensor block = at::empty({total}, at::TensorOptions(at::kByte).pinned_memory(may_be_pinned_ && !device.is_cpu()));
    auto* out = block.mutable_data_ptr<uint8_t>();
    uint64_t length = description_.bytes().size();
    std::memcpy(out, &length, sizeof length);
    std::memcpy(out + sizeof length, description_.bytes().data(), length);
    std::vector<at::Tensor> parts;
    std::vector<int64_t> places;
    int64_t begin = front;
    for (Buffer& buffer : buffers_) {
      int64_t place = begin;
      for (at::Tensor& part : buffer.parts) {
        places.push_back(place);
        place += static_cast<int64_t>(part.nbytes());
        parts.push_back(std::move(part));
      }
      begin += aligned(buffer.bytes);
    }
    kernels::download_ranges(block, parts, places);
    return block;
  }

  static bool is_fixed(const Column& column) { return !column.is_dictionary() && !column.type().is_text(); }

  static bool is_sparse(const Column& column) { return column.dictionary_column()->rows() > column.rows(); }

  // Index of the column's dictionary among those outside the block; nullopt if it is inside.
  std::optional<uint32_t> place_apart(const Column& column) {
    if (!column.is_dictionary() || is_sparse(column)) return std::nullopt;
    const std::shared_ptr<const Column>& dictionary = column.dictionary_column();
    int64_t bytes = dictionary->memory_bytes();
    if (bytes < limits_.least || bytes > limits_.most) return std::nullopt;
    auto found = std::find(dictionaries_.begin(), dictionaries_.end(), dictionary);
    if (found == dictionaries_.end()) {
      if (dictionaries_.size() == kMaxExternalDictionaries) return std::nullopt;
      found = dictionaries_.insert(found, dictionary);
    }
    return static_cast<uint32_t>(found - dictionaries_.begin());
  }

  void describe(LogicalType type, Form form, int64_t rows, bool has_validity) {
    description_.put(static_cast<uint8_t>(type.kind()));
    description_.put(static_cast<uint8_t>(type.precision()));
    description_.put(static_cast<uint8_t>(type.scale()));
    description_.put(form);
    description_.put<uint8_t>(has_validity ? 1 : 0);
    description_.put<int64_t>(rows);
  }

  void describe(const Column& column, Form form) {
    describe(column.type(), form, column.rows(), column.has_validity());
    if (column.has_validity()) add_buffer({column.validity()});
  }

  // Copied straight into the block.
  void add_fixed(const std::vector<Column>& pieces, int64_t rows) {
    const bool has_validity = std::any_of(pieces.begin(), pieces.end(), [](const Column& piece) { return piece.has_validity(); });
    describe(pieces[0].type(), Form::Fixed, rows, has_validity);
    std::vector<at::Tensor> validity, values;
    for (const Column& piece : pieces) {
      values.push_back(piece.values());
      if (!has_validity) continue;
      const at::TensorOptions options = at::TensorOptions(at::kBool).device(piece.device());
      validity.push_back(piece.has_validity() ? piece.validity() : at::ones({piece.rows()}, options));
    }
    if (has_validity) add_buffer(std::move(validity));
    add_buffer(std::move(values));
  }

  void add_or_put_apart(const Column& column) {
    if (std::optional<uint32_t> place = place_apart(column)) {
      add_apart(column, *place);
    } else {
      add(column);
    }
  }

  void add_apart(const Column& column, uint32_t place) {
    describe(column, Form::ApartDictionary);
    add_buffer({column.codes()});
    description_.put(place);
  }

  void add(const Column& column) {
    if (column.is_dictionary() && is_sparse(column)) return add(decode_dictionary(column));
    Form form = column.is_dictionary() ? Form::Dictionary : column.type().is_text() ? Form::Text : Form::Fixed;
    describe(column, form);
    switch (form) {
      case Form::Fixed: add_buffer({column.values()}); break;
      case Form::Text: {
        auto [bytes, offsets] = kernels::text_compact(column.bytes(), column.begins(), column.ends());
        add_buffer({offsets});
        add_buffer({bytes});
        break;
      }
      case Form::Dictionary:
        add_buffer({column.codes()});
        add(*column.dictionary_column());
        break;
      case Form::ApartDictionary: break;  // never requested here
    }
  }

  void add_buffer(std::vector<at::Tensor> parts) {
    Buffer& buffer = buffers_.emplace_back(Buffer{std::move(parts), 0});
    for (at::Tensor& part : buffer.parts) {
      part = part.contiguous();
      buffer.bytes += static_cast<int64_t>(part.nbytes());
    }
    description_.put<uint64_t>(static_cast<uint64_t>(buffer.bytes));
  }

  const ExternalDictionaryLimits limits_;
  const bool may_be_pinned_;
  ByteWriter description_;
  std::vector<Buffer> buffers_;
  SharedDictionaries dictionaries_;
};

class Unpacker {
 public:
  Unpacker(const at::Tensor& block, const SharedDictionaries& dictionaries, at::Device device)
      : block_(block), dictionaries_(dictionaries), description_(description_of(block)), copy_(copied_to(block, device)) {
    place_ = aligned(static_cast<int64_t>(sizeof(uint64_t) + description_.left()));
  }

  Chunk unpack() {
    auto rows = description_.get<int64_t>();
    require(rows >= 0);
    size_t count = description_.get_count();
    std::vector<Column> columns;
    for (size_t i = 0; i < count; ++i) {
      columns.push_back(column(true));
      require(columns.back().rows() == rows);
    }
    return Chunk(std::move(columns), rows, copy_.device());
  }

 private:
  // A buffer of the block, and the same on the device of the result.
  struct Buffer {
    at::Tensor host;
    at::Tensor tensor;
  };

  static std::string_view description_of(const at::Tensor& block) {
    require(block.dim() == 1 && block.scalar_type() == at::kByte && block.is_contiguous() && block.numel() >= kAlignment);
    const char* bytes = reinterpret_cast<const char*>(block.const_data_ptr<uint8_t>());
    uint64_t length = 0;
    std::memcpy(&length, bytes, sizeof length);
    require(length <= static_cast<uint64_t>(block.numel()) - sizeof length);
    return {bytes + sizeof length, length};
  }

  static void require(bool holds) {
    if (!holds) throw PeerError("rows from another rank are damaged: the block does not describe itself");
  }

  // Bytes other than 0 and 1 are invalid in a tensor of booleans.
  static bool are_booleans(const at::Tensor& raw) {
    const uint8_t* byte = raw.const_data_ptr<uint8_t>();
    uint8_t all = 0;
    for (int64_t i = 0; i < raw.numel(); ++i) all |= byte[i];
    return all <= 1;
  }

  Column column(bool may_be_coded) {
    auto kind = description_.get<uint8_t>();
    auto precision = description_.get<uint8_t>();
    auto scale = description_.get<uint8_t>();
    require(kind <= static_cast<uint8_t>(TypeKind::Blob) && precision <= 38 && scale <= precision);
    bool is_decimal = static_cast<TypeKind>(kind) == TypeKind::Decimal;
    require(is_decimal == (precision > 0));
    LogicalType type = is_decimal ? LogicalType::decimal(precision, scale) : LogicalType(static_cast<TypeKind>(kind));
    auto form = description_.get<Form>();
    bool has_validity = description_.get<uint8_t>() != 0;
    auto rows = description_.get<int64_t>();
    require(rows >= 0 && rows <= block_.numel());
    at::Tensor validity = has_validity ? buffer(rows, at::kBool).tensor : at::Tensor();
    switch (form) {
      case Form::Fixed: {
        require(!type.is_text());
        at::Tensor values = buffer(type.is_wide() ? rows * 2 : rows, type.scalar_type()).tensor;
        return Column::fixed(type, type.is_wide() ? values.view({rows, 2}) : values, validity);
      }
      case Form::Text: {
        require(type.is_text());
        const Buffer offsets = buffer(rows + 1, at::kLong);
        const at::Tensor bytes = buffer(-1, at::kByte).tensor;
        const int64_t* place = offsets.host.const_data_ptr<int64_t>();
        bool ascends = place[0] == 0 && place[rows] == bytes.numel();
        for (int64_t i = 0; i < rows; ++i) ascends &= place[i] <= place[i + 1];
        require(ascends);
        return Column::text(type, bytes, offsets.tensor.slice(0, 0, rows), offsets.tensor.slice(0, 1), validity);
      }
      case Form::Dictionary: {
        require(may_be_coded);
        const Buffer codes = buffer(rows, at::kInt);
        return coded(type, codes, std::make_shared<const Column>(column(false)), validity);
      }
      case Form::ApartDictionary: {
        require(may_be_coded);
        const Buffer codes = buffer(rows, at::kInt);
        auto place = description_.get<uint32_t>();
        require(place < dictionaries_.size());
        return coded(type, codes, dictionaries_[place], validity);
      }
    }
    require(false);
    fail_check(__FILE__, __LINE__, "not reached");
  }

  static Column coded(LogicalType type, const Buffer& codes, std::shared_ptr<const Column> entries, const at::Tensor& validity) {
    require(entries->type() == type);
    const int32_t* code = codes.host.const_data_ptr<int32_t>();
    const int64_t most = entries->rows();
    bool inside = true;
    for (int64_t i = 0; i < codes.host.numel(); ++i) inside &= code[i] >= 0 && code[i] < most;
    require(inside);
    return Column::dictionary(codes.tensor, std::move(entries), validity);
  }

  // -1: as many elements as the block states.
  Buffer buffer(int64_t elements, at::ScalarType type) {
    auto bytes = description_.get<uint64_t>();
    require(place_ <= block_.numel() && bytes <= static_cast<uint64_t>(block_.numel() - place_));
    auto size = static_cast<int64_t>(c10::elementSize(type));
    require(elements < 0 || static_cast<int64_t>(bytes) == elements * size);
    at::Tensor raw = block_.narrow(0, place_, static_cast<int64_t>(bytes));
    if (type == at::kBool) require(are_booleans(raw));
    Buffer made{raw.view(type), copy_.narrow(0, place_, static_cast<int64_t>(bytes)).view(type)};
    place_ += aligned(static_cast<int64_t>(bytes));
    return made;
  }

  const at::Tensor& block_;
  const SharedDictionaries& dictionaries_;
  ByteReader description_;
  const at::Tensor copy_;  // the block itself on the CPU
  int64_t place_ = 0;
};

}  // namespace

PackedChunk pack_chunks(const std::vector<Chunk>& chunks, ExternalDictionaryLimits limits) {
  return Packer(limits, /*may_be_pinned=*/true).pack(chunks);
}

PackedChunk pack_chunk(const Chunk& chunk, ExternalDictionaryLimits limits) {
  return pack_chunks({chunk}, limits);
}

at::Tensor pack_chunk(const Chunk& chunk) {
  return Packer({}, /*may_be_pinned=*/false).pack({chunk}).block;
}

Chunk unpack_chunk(const at::Tensor& block, const SharedDictionaries& dictionaries, at::Device device) {
  return Unpacker(block, dictionaries, device).unpack();
}

}  // namespace pistachio
