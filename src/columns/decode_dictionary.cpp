#include "columns/decode_dictionary.h"

#include <ATen/ATen.h>

namespace pistachio {

Column decode_dictionary(const Column& column) {
  if (!column.is_dictionary()) return column;
  const Column& entries = *column.dictionary_column();
  const at::Tensor& codes = column.codes();
  if (entries.type().is_text()) {
    return Column::text(entries.type(), entries.bytes(), entries.begins().index_select(0, codes), entries.ends().index_select(0, codes),
                        column.validity());
  }
  return Column::fixed(entries.type(), entries.values().index_select(0, codes), column.validity());
}

}  // namespace pistachio
