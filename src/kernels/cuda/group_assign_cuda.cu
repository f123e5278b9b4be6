// Grouping on the GPU, with the same ids and table layout as a sequential loop over the rows.
// Ids: rows whose hash is not in the table yet meet in a temporary table that keeps the first row of each new hash. A prefix count of first
// rows numbers the new groups; the first row beyond the limit is where the call stops.
// Layout: in a sequential loop a group takes the first slot of its probe sequence that no earlier group holds. Any insertion order gives
// the same layout if an earlier group evicts a later one from its slot, which then probes on: this is the stable matching of groups and
// slots in which every slot prefers the earlier group, and it is unique.
#include "kernels/cuda/group_assign_cuda.h"

#include "kernels/cuda/device_readback.h"
#include "kernels/cuda/row_loop.h"
#include "kernels/cuda/sorted_keys.h"

namespace pistachio::kernels::cuda {

namespace {

using Priority = unsigned long long;  // smaller is earlier; zero marks an empty slot

constexpr uint32_t nothing = 0xffffffff;

// Inserts an element of this priority and displaces later ones. Writes only the priorities.
__device__ void claim_slot(GroupSlot* slots, uint64_t mask, int64_t hash, Priority priority) {
  uint64_t slot = static_cast<uint64_t>(hash) & mask;
  while (true) {
    Priority* place = &slots[slot].id_plus_one;
    const Priority holder = *static_cast<volatile Priority*>(place);
    if (holder == 0 || holder > priority) {
      if (atomicCAS(place, holder, priority) != holder) continue;  // changed concurrently: retry
      if (holder == 0) return;
      priority = holder;
    }
    slot = (slot + 1) & mask;
  }
}

// Working memory of a window of rows.
struct Window {
  const int64_t* hashes;       // of the window
  uint32_t* first_of_hash;     // temporary table: first row of each new hash
  int table_bits;
  uint32_t* places;            // each row's slot in that table, or a marker if its group is known
  int64_t* ids;
};

struct LookUpRow {
  Window window;
  const GroupSlot* slots;
  uint64_t mask;

  __device__ void operator()(int64_t row) const {
    const int64_t hash = window.hashes[row];
    for (uint64_t slot = static_cast<uint64_t>(hash) & mask; slots[slot].id_plus_one != 0; slot = (slot + 1) & mask) {
      if (slots[slot].hash == hash) {
        window.ids[row] = static_cast<int64_t>(slots[slot].id_plus_one - 1);
        window.places[row] = nothing;
        return;
      }
    }
    window.places[row] = enter(hash, static_cast<uint32_t>(row));
  }

  // Only an earlier row of the same hash can replace the row in a slot.
  __device__ uint32_t enter(int64_t hash, uint32_t row) const {
    const uint32_t table_mask = (uint32_t{1} << window.table_bits) - 1;
    auto place = static_cast<uint32_t>(static_cast<uint64_t>(hash) * 0x9e3779b97f4a7c15 >> (64 - window.table_bits));
    while (true) {
      uint32_t* first = window.first_of_hash + place;
      uint32_t holder = *static_cast<volatile uint32_t*>(first);
      if (holder == nothing) {
        holder = atomicCAS(first, nothing, row);
        if (holder == nothing) return place;
      }
      if (window.hashes[holder] == hash) {
        if (row < holder) atomicMin(first, row);
        return place;
      }
      place = (place + 1) & table_mask;
    }
  }
};

// 1 for the first row of each new group; an extra last element makes room for the total.
struct IsFirstRow {
  Window window;
  int64_t rows;
  __device__ int64_t operator()(int64_t row) const {
    if (row == rows || window.places[row] == nothing) return 0;
    return window.first_of_hash[window.places[row]] == row ? 1 : 0;
  }
};

// result = {rows, new groups}; the row to stop at is filled in later.
__global__ void start_result_kernel(const int64_t* ranks, int64_t rows, int64_t allowed, int64_t* result) {
  result[0] = rows;
  result[1] = min(ranks[rows], allowed);
}

struct NumberRow {
  Window window;
  const int64_t* ranks;  // number of first rows before each row
  int64_t begin;
  int64_t groups;
  int64_t allowed;
  int64_t* first_rows;
  int64_t* result;
  __device__ void operator()(int64_t row) const {
    const uint32_t place = window.places[row];
    if (place == nothing) return;
    const uint32_t first = window.first_of_hash[place];
    const int64_t rank = ranks[first];
    window.ids[row] = groups + rank;  // ids from the stop on are never read
    if (first != row) return;
    if (rank < allowed) first_rows[rank] = begin + row;
    if (rank == allowed) result[0] = row;
  }
};

struct ClaimForNewGroup {
  GroupSlot* slots;
  uint64_t mask;
  const int64_t* hashes;  // of all rows
  const int64_t* first_rows;
  const int64_t* result;
  int64_t groups;
  __device__ void operator()(int64_t i) const {
    if (i < result[1]) claim_slot(slots, mask, hashes[first_rows[i]], static_cast<Priority>(groups + i + 1));
  }
};

struct StoreHashOfNewGroup {
  GroupSlot* slots;
  uint64_t mask;
  const int64_t* hashes;
  const int64_t* first_rows;
  const int64_t* result;
  int64_t groups;
  __device__ void operator()(int64_t i) const {
    if (i >= result[1]) return;
    const int64_t hash = hashes[first_rows[i]];
    uint64_t slot = static_cast<uint64_t>(hash) & mask;
    while (slots[slot].id_plus_one != static_cast<Priority>(groups + i + 1)) slot = (slot + 1) & mask;
    slots[slot].hash = hash;
  }
};

struct ClaimForOldSlot {
  const GroupSlot* from;
  GroupSlot* to;
  uint64_t mask;
  __device__ void operator()(int64_t slot) const {
    if (from[slot].id_plus_one != 0) claim_slot(to, mask, from[slot].hash, static_cast<Priority>(slot + 1));
  }
};

struct CopyOldSlot {
  const GroupSlot* from;
  GroupSlot* to;
  __device__ void operator()(int64_t slot) const {
    const Priority claimed = to[slot].id_plus_one;
    if (claimed != 0) to[slot] = from[claimed - 1];
  }
};

}  // namespace

AssignedRows assign_groups(GroupSlot* slots, int64_t capacity, int64_t groups, int64_t most_groups, const int64_t* hashes, int64_t begin,
                           int64_t rows, int64_t* ids, int64_t* first_rows, ScratchMemory& scratch, cudaStream_t stream) {
  const auto mask = static_cast<uint64_t>(capacity - 1);
  const int64_t allowed = most_groups - groups;
  const int table_bits = bits_of(static_cast<uint64_t>(rows)) + 1;  // more than twice as many slots as rows
  const size_t table_bytes = sizeof(uint32_t) << table_bits;
  auto* first_of_hash = static_cast<uint32_t*>(scratch.take_bytes(table_bytes));
  const Window window{hashes + begin, first_of_hash, table_bits, scratch.take<uint32_t>(rows), ids};
  auto* ranks = scratch.take<int64_t>(rows + 1);
  auto* result = scratch.take<int64_t>(2);
  check_cuda(cudaMemsetAsync(window.first_of_hash, 0xff, table_bytes, stream));
  for_rows(rows, LookUpRow{window, slots, mask}, stream);
  map_rows(rows + 1, ranks, IsFirstRow{window, rows}, stream);
  sum_exclusive(ranks, rows + 1, scratch, stream);
  start_result_kernel<<<1, 1, 0, stream>>>(ranks, rows, allowed, result);
  check_cuda(cudaGetLastError());
  for_rows(rows, NumberRow{window, ranks, begin, groups, allowed, first_rows, result}, stream);
  const int64_t most_new = std::min(rows, allowed);
  for_rows(most_new, ClaimForNewGroup{slots, mask, hashes, first_rows, result, groups}, stream);
  for_rows(most_new, StoreHashOfNewGroup{slots, mask, hashes, first_rows, result, groups}, stream);
  int64_t words[2];
  read_back(result, 2, words, stream);
  return {words[0], words[1]};
}

void rehash_groups(const GroupSlot* from, int64_t from_capacity, GroupSlot* to, int64_t to_capacity, cudaStream_t stream) {
  for_rows(from_capacity, ClaimForOldSlot{from, to, static_cast<uint64_t>(to_capacity - 1)}, stream);
  for_rows(to_capacity, CopyOldSlot{from, to}, stream);
}

}  // namespace pistachio::kernels::cuda
