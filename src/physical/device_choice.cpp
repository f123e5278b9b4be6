#include "physical/device_choice.h"

#include "catalog/table.h"

namespace pistachio {

namespace {

// Of the 22 TPC-H queries, which scan 0.2 GB in the mean per unit of scale factor: the host took 19 ms per unit on 16 threads; an H200 took
// 20 ms, of which the host needs 3, and 2.2 ms per unit (docs/performance.md).
constexpr double kHostBytesPerSecondAndThread = 0.66e9;
constexpr double kGpuBytesPerSecond = 90e9;
constexpr double kGpuStartSeconds = 0.017;
// Begin, end and bytes of a short text.
constexpr double kScannedTextBytes = 24;

double scanned_bytes_of(const PhysicalNode& node) {
  double bytes = 0;
  if (const auto* scan = node.as<PhysicalScan>()) {
    for (const size_t source : scan->sources) {
      const LogicalType type = scan->table->columns()[source].type;
      bytes += static_cast<double>(scan->table->rows()) * (type.is_text() ? kScannedTextBytes : static_cast<double>(type.value_bytes()));
    }
  }
  for (const PhysicalPtr& child : node.children) bytes += scanned_bytes_of(*child);
  return bytes;
}

}  // namespace

double scanned_bytes(const PhysicalPlan& plan) {
  double bytes = scanned_bytes_of(*plan.root);
  for (const PhysicalPtr& shared : plan.shared) bytes += shared ? scanned_bytes_of(*shared) : 0;
  return bytes;
}

bool is_faster_on_gpu(double bytes, int64_t threads) {
  const double on_host = bytes / (kHostBytesPerSecondAndThread * static_cast<double>(threads));
  return kGpuStartSeconds + bytes / kGpuBytesPerSecond < on_host;
}

}  // namespace pistachio
