// Decodes Parquet's RLE / bit-packed hybrid: dictionary codes and, with limit 0, any unsigned values of up to 32 bits.
//   bytes  uint8 [..], no padding expected
//   pages  int64 CPU [pages, 7], rows {begin, end, bit_width 0..32, limit, base, skip, take}; the stream is bytes[begin, end), and `base`
//          is added to each value, after the check: where a page's dictionary begins among several
// Returns int32 [sum of take], pages in order. Skipped values are skipped run by run, neither unpacked nor checked.
// DataError: the stream ends before skip + take values (the last bit-packed run may lack bytes of unneeded values), an RLE value does
// not fit its bit width, a taken value is >= limit (limit > 0; for codes the dictionary's size. For an empty dictionary the
// caller must reject taken values itself), or a repeated run reaches 8 or more values past skip + take: writers pad only bit-packed runs
// that far, so values would end up in the wrong rows. With limit 0 no value is checked and 32-bit values keep their bits.
// Bit width 0 yields zeros whatever the bytes are.
#pragma once

#include <ATen/core/Tensor.h>

namespace pistachio::kernels {

at::Tensor rle_decode(const at::Tensor& bytes, const at::Tensor& pages);

}  // namespace pistachio::kernels
