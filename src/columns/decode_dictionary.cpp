#include "columns/decode_dictionary.h"

#include <ATen/core/Tensor.h>

#include "kernels/ops/dictionary_gather.h"

namespace pistachio {

Column decode_dictionary(const Column& column) {
  if (!column.is_dictionary()) return column;
  const Column& entries = *column.dictionary_column();
  const at::Tensor& codes = column.codes();
  if (entries.type().is_text()) {
    return Column::text(entries.type(), entries.bytes(), kernels::dictionary_gather(entries.begins(), codes),
                        kernels::dictionary_gather(entries.ends(), codes), column.validity());
  }
  return Column::fixed(entries.type(), kernels::dictionary_gather(entries.values(), codes), column.validity());
}

}  // namespace pistachio
