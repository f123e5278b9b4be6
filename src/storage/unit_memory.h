// Estimates the memory of a scan unit's columns, from the footer before anything is read, and from the pages afterwards. Errs on the large
// side; the allocator enforces the limit in any case.
#pragma once

#include "storage/parquet_footer.h"

namespace pistachio {

// Decompressed size of the chunk's pages according to the footer, capped at what the codec can produce from the compressed bytes.
int64_t decompressed_bytes(const ColumnChunkInfo& chunk);

// Memory to decode `rows` rows of a column at once: values (or begin and end of text) and validity, half of that again while values are
// spread over NULLs or pieces concatenated, and temporaries of conversions. Dictionary codes take less.
double decoding_bytes(const ParquetColumn& column, const ColumnChunkInfo& chunk, int64_t rows);

// Bytes per retained decoded row.
int64_t decoded_row_bytes(const ParquetColumn& column);

}  // namespace pistachio
