#include "frontend/cli/machine_topology.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <tuple>

namespace pistachio {

namespace {

constexpr const char* kNvidia = "0x10de";

// The first line of a file; empty if there is none.
std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The entries of a folder, sorted. POSIX calls, not std::filesystem: CUDA builds of libtorch export functions of that name that crash when
// others call them.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> handle(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = handle ? ::readdir(handle.get()) : nullptr) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

int node_of(const std::string& device) {
  std::string text = read_line(device + "/numa_node");
  return text.empty() ? -1 : std::atoi(text.c_str());
}

// The PCI device of a device, which may be several levels up (virtio); empty: none.
std::string pci_device(const std::string& device) {
  char real[PATH_MAX];
  std::string path = ::realpath(device.c_str(), real) == nullptr ? "" : real;
  while (!path.empty() && !(is_there(path + "/vendor") && is_there(path + "/class"))) path.erase(path.rfind('/'));
  return path;
}

MachineDevice device_of(const std::string& name, const std::string& pci) {
  if (pci.empty()) return {.name = name};
  return {.name = name, .address = pci.substr(pci.rfind('/') + 1), .path = pci, .numa_node = node_of(pci)};
}

std::vector<MachineTopology::NumaNode> read_nodes(const std::string& root) {
  std::vector<MachineTopology::NumaNode> nodes;
  for (const std::string& name : names_in(root + "/devices/system/node")) {
    if (!name.starts_with("node") || name.find_first_not_of("0123456789", 4) != std::string::npos) continue;
    CoreSet cores = core_set_of(read_line(root + "/devices/system/node/" + name + "/cpulist"));
    // Some nodes only have memory.
    if (!cores.empty()) nodes.push_back({std::atoi(name.c_str() + 4), std::move(cores)});
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& one, const auto& other) { return one.number < other.number; });
  return nodes;
}

std::vector<MachineDevice> read_gpus(const std::string& root) {
  std::vector<MachineDevice> gpus;
  for (const std::string& address : names_in(root + "/bus/pci/devices")) {
    std::string device = root + "/bus/pci/devices/" + address;
    bool shows_or_computes = read_line(device + "/class").starts_with("0x03");
    if (shows_or_computes && read_line(device + "/vendor") == kNvidia) gpus.push_back(device_of(address, pci_device(device)));
  }
  return gpus;
}

std::vector<MachineDevice> read_rdma(const std::string& root) {
  std::vector<MachineDevice> found;
  for (const std::string& name : names_in(root + "/class/infiniband")) {
    std::string device = root + "/class/infiniband/" + name;
    for (const std::string& port : names_in(device + "/ports")) {
      if (read_line(device + "/ports/" + port + "/state").find("ACTIVE") == std::string::npos) continue;
      found.push_back(device_of(name + ":" + port, pci_device(device + "/device")));
    }
  }
  return found;
}

std::vector<MachineDevice> read_nets(const std::string& root) {
  std::vector<MachineDevice> found;
  for (const std::string& name : names_in(root + "/class/net")) {
    std::string device = root + "/class/net/" + name + "/device";
    if (is_there(device)) found.push_back(device_of(name, pci_device(device)));
  }
  return found;
}

// The NUMA node of all these cores; -1 if they span several.
int common_node(const MachineTopology& topology, const CoreSet& cores) {
  int common = -1;
  for (const MachineTopology::NumaNode& node : topology.nodes) {
    bool has_some = std::find_first_of(node.cores.begin(), node.cores.end(), cores.begin(), cores.end()) != node.cores.end();
    if (has_some && common != -1) return -1;
    if (has_some) common = node.number;
  }
  return common;
}

bool is_far(int node, const MachineDevice& device) {
  return node >= 0 && device.numa_node >= 0 && node != device.numa_node;
}

size_t common_length(const std::string& one, const std::string& other) {
  return static_cast<size_t>(std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
}

}  // namespace

MachineTopology read_topology(const std::string& root) {
  return {.nodes = read_nodes(root), .gpus = read_gpus(root), .rdma = read_rdma(root), .nets = read_nets(root)};
}

std::vector<RankPlace> place_ranks(const MachineTopology& topology, int ranks) {
  std::vector<int> cores;
  for (const MachineTopology::NumaNode& node : topology.nodes) cores.insert(cores.end(), node.cores.begin(), node.cores.end());
  std::sort(cores.begin(), cores.end());
  std::vector<size_t> gpu_users(topology.gpus.size());
  std::vector<size_t> rdma_users(topology.rdma.size());
  std::vector<RankPlace> places;
  auto count = static_cast<size_t>(ranks);
  for (size_t rank = 0; rank < count; ++rank) {
    RankPlace& place = places.emplace_back();
    auto share_begin = cores.begin() + static_cast<std::ptrdiff_t>(cores.size() * rank / count);
    auto share_end = cores.begin() + static_cast<std::ptrdiff_t>(cores.size() * (rank + 1) / count);
    // With fewer cores than ranks, every rank uses all cores.
    place.numa_node = common_node(topology, count > cores.size() ? cores : CoreSet(share_begin, share_end));
    const MachineDevice* gpu = nullptr;
    if (topology.gpus.size() > 1) {
      size_t most_users = (count + topology.gpus.size() - 1) / topology.gpus.size();
      auto cost = [&](size_t i) {
        return std::tuple(gpu_users[i] >= most_users, is_far(place.numa_node, topology.gpus[i]), gpu_users[i], i);
      };
      size_t best = 0;
      for (size_t i = 1; i < topology.gpus.size(); ++i) best = cost(i) < cost(best) ? i : best;
      place.gpu = best;
      ++gpu_users[best];
    }
    if (place.gpu) gpu = &topology.gpus[*place.gpu];
    if (topology.gpus.size() == 1) gpu = &topology.gpus[0];
    if (topology.rdma.size() > 1) {
      int near = gpu != nullptr ? gpu->numa_node : place.numa_node;
      auto cost = [&](size_t i) {
        const MachineDevice& own = topology.rdma[i];
        size_t apart = gpu == nullptr ? 0 : gpu->path.size() - common_length(gpu->path, own.path);
        return std::tuple(is_far(near, own), apart, rdma_users[i], i);
      };
      size_t best = 0;
      for (size_t i = 1; i < topology.rdma.size(); ++i) best = cost(i) < cost(best) ? i : best;
      place.rdma = best;
      ++rdma_users[best];
    }
  }
  return places;
}

}  // namespace pistachio
