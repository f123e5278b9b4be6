// What a machine has for its ranks, as the kernel shows it under /sys: cores by NUMA node, GPUs, network devices; and which of them is
// nearest to a rank. Every rank of a machine comes to the same answer for all of them without asking the others. Reading looks at files
// once; placing is pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core_set.h"

namespace pistachio {

struct MachineDevice {
  std::string name;     // mlx5_0:1, eth0; of a GPU its PCI address
  std::string address;  // on the PCI bus; empty: it is not there
  std::string path;     // of the device below /sys: devices behind the same switch have much of it in common
  int numa_node = -1;   // -1: not known
};

struct MachineTopology {
  struct NumaNode {
    int number = 0;
    CoreSet cores;
  };
  std::vector<NumaNode> nodes;
  std::vector<MachineDevice> gpus;  // those of NVIDIA, in the order of their addresses
  std::vector<MachineDevice> rdma;  // ports that are up
  std::vector<MachineDevice> nets;  // other network devices that are hardware
};

// Of this machine, or of a tree that looks like its /sys. What cannot be read is left out.
MachineTopology read_topology(const std::string& root = "/sys");

// What a rank of the machine is to use; nothing where there is no choice. Numbers are places in the lists of the topology.
struct RankPlace {
  int numa_node = -1;         // of its cores if all ranks have as many; -1: on several
  std::optional<size_t> gpu;  // of several: each rank has its own as long as there are enough
  // Of several: the nearest to its GPU, or to its cores. Only RDMA: those that are linked are on one fabric, while the networks of other
  // devices need not reach each other.
  std::optional<size_t> rdma;
};

// For each of the ranks on the machine.
std::vector<RankPlace> place_ranks(const MachineTopology& topology, int ranks);

}  // namespace pistachio
