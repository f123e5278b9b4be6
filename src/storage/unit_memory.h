// What the columns of a scan unit take in memory: what footers let expect before anything is read, and what the pages show after.
// Estimates, on the large side; the allocator holds tensors to the limit in any case.
#pragma once

#include "storage/parquet_footer.h"

namespace pistachio {

// The chunk's pages when decompressed, as far as the footer can be believed: no more than the codec makes of the bytes that are there.
int64_t decompressed_bytes(const ColumnChunkInfo& chunk);

// Decoding so many rows of a column at once: its values (or begin and end of text) and validity, half of that again while NULLs are
// spread or pieces joined, and what conversions need in between. Dictionary codes take less.
double decoding_bytes(const ParquetColumn& column, const ColumnChunkInfo& chunk, int64_t rows);

// A decoded row that is kept.
int64_t decoded_row_bytes(const ParquetColumn& column);

}  // namespace pistachio
