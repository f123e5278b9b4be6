#include "frontend/cli/machine_topology.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace pistachio {
namespace {

// A tree like /sys of a machine with two sockets, each with a GPU and an RDMA device behind one switch; the second also has Ethernet.
class MachineTopologyTest : public testing::Test {
 protected:
  MachineTopologyTest() {
    write("devices/system/node/node0/cpulist", "0-3");
    write("devices/system/node/node1/cpulist", "4-7");
    write("devices/system/node/node2/cpulist", "");  // memory only
    write("devices/system/node/online", "0-2");
    for (int socket : {0, 1}) {
      std::string bus = fmt_bus(socket);
      add_pci(bus + "/0000:" + digit(socket) + "1:00.0", "0x030200", "0x10de", socket);
      std::string network = bus + "/0000:" + digit(socket) + "2:00.0";
      add_pci(network, "0x020700", "0x15b3", socket);
      std::string name = "mlx5_" + std::string(1, digit(socket));
      write("class/infiniband/" + name + "/ports/1/state", "4: ACTIVE");
      write("class/infiniband/" + name + "/ports/2/state", "1: DOWN");
      link("class/infiniband/" + name + "/device", network);
    }
    add_pci("devices/pci0000:00/0000:00:05.0", "0x030000", "0x1a03", 0);  // the console
    add_pci(fmt_bus(1) + "/0000:13:00.0", "0x020000", "0x1af4", 1);
    write(fmt_bus(1) + "/0000:13:00.0/virtio0/name", "");
    folder_.make_folder("class/net/eth0");
    link("class/net/eth0/device", fmt_bus(1) + "/0000:13:00.0/virtio0");
    folder_.make_folder("class/net/lo");
  }

  static char digit(int number) { return static_cast<char>('0' + number); }
  static std::string fmt_bus(int socket) { return std::string("devices/pci0000:") + digit(socket) + "0/0000:" + digit(socket) + "0:01.0"; }

  void write(const std::string& path, const std::string& text) {
    folder_.make_folder(path.substr(0, path.rfind('/')));
    std::ofstream(folder_.file(path)) << text << "\n";
  }
  void link(const std::string& from, const std::string& to) {
    ASSERT_EQ(::symlink(folder_.file(to).c_str(), folder_.file(from).c_str()), 0) << from;
  }
  void add_pci(const std::string& path, const std::string& kind, const std::string& vendor, int node) {
    write(path + "/class", kind);
    write(path + "/vendor", vendor);
    write(path + "/numa_node", std::to_string(node));
    folder_.make_folder("bus/pci/devices");
    link("bus/pci/devices/" + path.substr(path.rfind('/') + 1), path);
  }

  test::TemporaryFolder folder_;
};

TEST_F(MachineTopologyTest, DevicesAreFoundWithTheirNodes) {
  MachineTopology topology = read_topology(folder_.path());
  ASSERT_EQ(topology.nodes.size(), 2u);
  EXPECT_EQ(topology.nodes[1].number, 1);
  EXPECT_EQ(topology.nodes[1].cores, (CoreSet{4, 5, 6, 7}));
  ASSERT_EQ(topology.gpus.size(), 2u);
  EXPECT_EQ(topology.gpus[0].name, "0000:01:00.0");
  EXPECT_EQ(topology.gpus[1].numa_node, 1);
  ASSERT_EQ(topology.rdma.size(), 2u);
  EXPECT_EQ(topology.rdma[1].name, "mlx5_1:1");
  EXPECT_EQ(topology.rdma[1].address, "0000:12:00.0");
  ASSERT_EQ(topology.nets.size(), 1u);
  EXPECT_EQ(topology.nets[0].name, "eth0");
  EXPECT_EQ(topology.nets[0].address, "0000:13:00.0");
  EXPECT_EQ(topology.nets[0].numa_node, 1);
}

TEST_F(MachineTopologyTest, EmptyTreeHasNoDevices) {
  MachineTopology topology = read_topology(folder_.file("none"));
  EXPECT_TRUE(topology.nodes.empty() && topology.gpus.empty() && topology.rdma.empty() && topology.nets.empty());
  std::vector<RankPlace> places = place_ranks(topology, 2);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_FALSE(places[1].gpu || places[1].rdma);
}

TEST_F(MachineTopologyTest, RanksGetDevicesNearTheirCores) {
  MachineTopology topology = read_topology(folder_.path());
  std::vector<RankPlace> places = place_ranks(topology, 2);
  for (int rank : {0, 1}) {
    const RankPlace& place = places[static_cast<size_t>(rank)];
    EXPECT_EQ(place.numa_node, rank);
    EXPECT_EQ(place.gpu, static_cast<size_t>(rank));
    EXPECT_EQ(place.rdma, static_cast<size_t>(rank));
  }
  // Reversed: the first bus addresses are near the second half of the cores.
  std::swap(topology.gpus[0].numa_node, topology.gpus[1].numa_node);
  places = place_ranks(topology, 2);
  EXPECT_EQ(places[0].gpu, 1u);
  EXPECT_EQ(places[1].gpu, 0u);
}

TEST_F(MachineTopologyTest, MoreRanksThanDevicesShareThem) {
  MachineTopology topology = read_topology(folder_.path());
  std::vector<RankPlace> places = place_ranks(topology, 4);
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(places[rank].gpu, rank / 2) << rank;
    EXPECT_EQ(places[rank].rdma, rank / 2) << rank;
  }
  // Three ranks: the middle one has cores of both sockets.
  places = place_ranks(topology, 3);
  EXPECT_EQ(places[1].numa_node, -1);
  EXPECT_EQ(places[0].gpu, 0u);
  EXPECT_EQ(places[1].gpu, 1u);
}

TEST_F(MachineTopologyTest, MoreRanksThanCoresShareTheirNode) {
  MachineTopology topology;
  topology.nodes.push_back({.number = 0, .cores = {0, 1}});
  for (const RankPlace& place : place_ranks(topology, 5)) EXPECT_EQ(place.numa_node, 0);
}

TEST_F(MachineTopologyTest, SameSwitchIsNearerThanSameSocket) {
  MachineTopology topology = read_topology(folder_.path());
  for (auto* devices : {&topology.gpus, &topology.rdma}) {
    for (MachineDevice& device : *devices) device.numa_node = 0;
  }
  std::vector<RankPlace> places = place_ranks(topology, 2);
  for (const RankPlace& place : places) EXPECT_EQ(place.gpu, place.rdma);
}

TEST_F(MachineTopologyTest, SingleDeviceNeedsNoChoice) {
  MachineTopology topology = read_topology(folder_.path());
  topology.gpus.resize(1);
  topology.rdma.resize(1);
  for (const RankPlace& place : place_ranks(topology, 3)) EXPECT_FALSE(place.gpu || place.rdma);
}

}  // namespace
}  // namespace pistachio
