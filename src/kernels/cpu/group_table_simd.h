// The inner loops of group_assign and group_rehash, on raw memory; ops/group_assign.h describes the table.
#pragma once

#include <cstdint>

namespace pistachio::kernels::cpu {

struct GroupSlot {
  int64_t hash;
  int64_t id_plus_one;  // 0: empty
};

struct GroupProgress {
  int64_t rows;    // rows that were assigned
  int64_t groups;  // new groups
};

// Looks up hashes[begin, end). `ids` has room for all of them, `first_rows` for every group that may be added.
GroupProgress assign_groups(GroupSlot* slots, int64_t capacity, int64_t groups, int64_t most_groups, const int64_t* hashes, int64_t begin,
                            int64_t end, int64_t* ids, int64_t* first_rows);
// Inserts the slots of a table into an empty one.
void enter_slots(const GroupSlot* from, int64_t from_capacity, GroupSlot* to, int64_t to_capacity);

}  // namespace pistachio::kernels::cpu
