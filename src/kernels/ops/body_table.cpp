#include "kernels/ops/body_table.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/check.h"

namespace pistachio::kernels {

namespace {

struct BodiesOfOperation {
  AnyBody bodies[kBackends];
};

// Inside a function: files register before main, in any order.
std::map<std::string, BodiesOfOperation>& body_table() {
  static std::map<std::string, BodiesOfOperation> table;
  return table;
}

}  // namespace

bool register_body(Backend backend, const char* operation, AnyBody body) {
  AnyBody& place = body_table()[operation].bodies[static_cast<int>(backend)];
  if (place.function != nullptr) {
    std::fprintf(stderr, "two bodies of the kernel %s for one backend\n", operation);
    std::abort();
  }
  place = body;
  return true;
}

AnyBody find_body(Backend backend, const std::string& operation, const std::type_info& signature) {
  const auto found = body_table().find(operation);
  ENSURE(found != body_table().end(), "the kernel {} has no body", operation);
  const AnyBody body = found->second.bodies[static_cast<int>(backend)];
  ENSURE(body.function == nullptr || *body.signature == signature, "the kernel {} has a body with another signature", operation);
  return body;
}

}  // namespace pistachio::kernels
