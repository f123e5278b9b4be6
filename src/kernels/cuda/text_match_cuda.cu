// LIKE and substrings on the GPU, one text per thread. Literals are searched eight bytes at a time: each step loads two words and compares
// the literal's first bytes at the eight alignments in between.
#include "kernels/cuda/text_match_cuda.h"

#include "kernels/cuda/row_loop.h"

namespace pistachio::kernels::cuda {

namespace {

constexpr int64_t no_place = -1;

__device__ bool continues_character(uint8_t byte) {
  return (byte & 0xC0) == 0x80;
}

// Position after the character at `at`, which must be before the end.
__device__ int64_t next_character(TextSpan text, int64_t at) {
  ++at;
  while (at < text.length && continues_character(text.data[at])) ++at;
  return at;
}

// Position after `count` characters; no_place if there are fewer.
__device__ int64_t skip_exactly(TextSpan text, int64_t at, int64_t count) {
  for (; count > 0; --count) {
    if (at == text.length) return no_place;
    at = next_character(text, at);
  }
  return at;
}

struct Matcher {
  TextColumn texts;
  LikeProgram program;

  // Compares the bytes after the first eight, which the key covers.
  __device__ bool has_rest(TextSpan text, int64_t at, const LikePiece& piece) const {
    for (int64_t i = 8; i < piece.literal_length; ++i) {
      if (text.data[at + i] != program.literals[piece.literal_begin + i]) return false;
    }
    return true;
  }

  __device__ bool is_here(TextSpan text, int64_t at, const LikePiece& piece) const {
    return text.length - at >= piece.literal_length && (load_text_word(text, at) & piece.mask) == piece.key && has_rest(text, at, piece);
  }

  // First position from `from` where the literal occurs.
  __device__ int64_t find(TextSpan text, int64_t from, const LikePiece& piece) const {
    const int64_t last = text.length - piece.literal_length;
    for (int64_t offset = from; offset <= last; offset += 8) {
      const uint64_t low = load_text_word(text, offset), high = load_text_word(text, offset + 8);
#pragma unroll
      for (int shift = 0; shift < 8; ++shift) {
        const uint64_t word = shift == 0 ? low : low >> (shift * 8) | high << (64 - shift * 8);
        if ((word & piece.mask) == piece.key && offset + shift <= last && has_rest(text, offset + shift, piece)) return offset + shift;
      }
    }
    return no_place;
  }

  // Position after pieces [piece, end), matched at `at`.
  __device__ int64_t match_here(TextSpan text, int64_t at, int64_t piece, int64_t end) const {
    for (; piece < end; ++piece) {
      at = skip_exactly(text, at, program.pieces[piece].skipped);
      if (at == no_place || !is_here(text, at, program.pieces[piece])) return no_place;
      at += program.pieces[piece].literal_length;
    }
    return at;
  }

  // Position after the earliest match of the pieces.
  __device__ int64_t match_later(TextSpan text, int64_t at, int64_t begin, int64_t end) const {
    const LikePiece& first = program.pieces[begin];
    at = skip_exactly(text, at, first.skipped);
    while (at != no_place) {
      at = find(text, at, first);
      if (at == no_place) return no_place;
      const int64_t behind = match_here(text, at + first.literal_length, begin + 1, end);
      if (behind != no_place) return behind;
      at = at < text.length ? next_character(text, at) : no_place;
    }
    return no_place;
  }

  // Whether the pieces match the end of the text without overlapping the text before `at`.
  __device__ bool match_end(TextSpan text, int64_t at, int64_t begin, int64_t end) const {
    int64_t behind = text.length;
    for (int64_t piece = end; piece-- > begin;) {
      const LikePiece& own = program.pieces[piece];
      behind -= own.literal_length;
      if (behind < at || !is_here(text, behind, own)) return false;
      for (int64_t skipped = own.skipped; skipped > 0; --skipped) {
        if (behind == at) return false;
        do --behind;
        while (behind > at && continues_character(text.data[behind]));
      }
    }
    return true;
  }

  __device__ bool operator()(int64_t row) const {
    const TextSpan text = texts[row];
    const int64_t* begins = program.segment_begins;
    int64_t at = match_here(text, 0, begins[0], begins[1]);
    if (at == no_place) return false;
    if (program.segments == 1) return at == text.length;
    for (int64_t segment = 1; segment + 1 < program.segments; ++segment) {
      if (begins[segment] == begins[segment + 1]) continue;
      at = match_later(text, at, begins[segment], begins[segment + 1]);
      if (at == no_place) return false;
    }
    return match_end(text, at, begins[program.segments - 1], begins[program.segments]);
  }
};

struct Cutter {
  TextColumn texts;
  int64_t skipped, count;
  int64_t* begins;
  int64_t* ends;

  __device__ static int64_t skip(TextSpan text, int64_t at, int64_t characters) {
    for (; characters > 0 && at < text.length; --characters) at = next_character(text, at);
    return at;
  }

  __device__ void operator()(int64_t row) const {
    const TextSpan text = texts[row];
    const int64_t first = skip(text, 0, skipped);
    begins[row] = texts.begins[row] + first;
    // A character takes at least one byte.
    ends[row] = count >= text.length - first ? texts.ends[row] : texts.begins[row] + skip(text, first, count);
  }
};

}  // namespace

void match_texts(const TextColumn& text, int64_t rows, const LikeProgram& program, bool* out, cudaStream_t stream) {
  map_rows(rows, out, Matcher{text, program}, stream);
}

void cut_texts(const TextColumn& text, int64_t rows, int64_t skipped, int64_t count, int64_t* begins, int64_t* ends, cudaStream_t stream) {
  for_rows(rows, Cutter{text, skipped, count, begins, ends}, stream);
}

}  // namespace pistachio::kernels::cuda
