// The hardware of a machine as the kernel shows it under /sys: cores by NUMA node, GPUs, network devices; and which devices are nearest to
// each rank. Every rank computes the same placement of all ranks on its machine without communication. Reading accesses files once; placing
// is pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core_set.h"

namespace pistachio {

struct MachineDevice {
  std::string name;     // mlx5_0:1, eth0; the PCI address of a GPU
  std::string address;  // on the PCI bus; empty if it is not a PCI device
  std::string path;     // below /sys: devices behind the same switch share a long prefix
  int numa_node = -1;   // -1: unknown
};

struct MachineTopology {
  struct NumaNode {
    int number = 0;
    CoreSet cores;
  };
  std::vector<NumaNode> nodes;
  std::vector<MachineDevice> gpus;  // NVIDIA only, ordered by address
  std::vector<MachineDevice> rdma;  // ports that are up
  std::vector<MachineDevice> nets;  // other physical network devices
};

// Reads this machine's topology, or that of a tree laid out like /sys. Skips what cannot be read.
MachineTopology read_topology(const std::string& root = "/sys");

// The devices that a rank should use; nullopt if there is no choice. Values are indexes into the topology's lists.
struct RankPlace {
  int numa_node = -1;         // of its cores if all ranks have equally many; -1: spans several
  std::optional<size_t> gpu;  // if there are several: one per rank as long as there are enough
  // If there are several: the nearest to its GPU or cores. RDMA only: active RDMA ports are on one fabric, while the networks of other
  // devices may be disconnected.
  std::optional<size_t> rdma;
};

// One entry for each rank of the machine.
std::vector<RankPlace> place_ranks(const MachineTopology& topology, int ranks);

}  // namespace pistachio
