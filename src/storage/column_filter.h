// Evaluates a storage filter on a decoded column; on dictionary columns once per entry, where that is less work.
#pragma once

#include "data/column.h"
#include "storage/range_filter.h"

namespace pistachio {

// Which rows pass; no mask if all or none do.
struct FilterOutcome {
  bool all = false;
  bool none = false;
  at::Tensor mask;  // defined if neither `all` nor `none`
};

// What a filter says of the entries of the dictionary that it met last. Used by one task at a time.
struct EntryOutcome {
  std::shared_ptr<const Column> dictionary;
  at::Tensor mask;          // bool [entries]; undefined: not evaluated yet
  int64_t passing = 0;      // entries
  int64_t rows_before = 0;  // rows that were evaluated instead
};

// `known`: if the column and later ones of the same filter may share a dictionary.
FilterOutcome evaluate_filter(const Column& column, const ColumnFilter& filter, EntryOutcome* known = nullptr);

}  // namespace pistachio
