// The bodies of all operations, by name and device. Files with bodies register them while the program loads; after that, the table does not
// change. It does what torch's dispatcher would, without the boxing code that torch instantiates for every signature, which was a tenth of
// the compile time of the whole program.
#pragma once

#include <string>
#include <typeinfo>

namespace pistachio::kernels {

enum class Backend { Composite, Cpu, Cuda };
constexpr int kBackends = 3;

using AnyFunction = void (*)();

struct AnyBody {
  AnyFunction function = nullptr;
  const std::type_info* signature = nullptr;
};

// Returns true, for REGISTER_BODY. Registering a body twice ends the process: a mistake in the source.
bool register_body(Backend backend, const char* operation, AnyBody body);

// The body of an operation for a backend, with no function if there is none. InternalError if no backend has a body of this name, or if its
// signature is another one.
AnyBody find_body(Backend backend, const std::string& operation, const std::type_info& signature);

template <typename Result, typename... Arguments>
bool register_body(Backend backend, const char* operation, Result (*function)(Arguments...)) {
  return register_body(backend, operation, AnyBody{reinterpret_cast<AnyFunction>(function), &typeid(Result(Arguments...))});
}

}  // namespace pistachio::kernels

// REGISTER_BODY(Cpu, "rle_decode", rle_decode) at namespace scope, below the function.
#define REGISTER_BODY(backend, operation, function) REGISTER_BODY_NUMBERED(backend, operation, function, __COUNTER__)
#define REGISTER_BODY_NUMBERED(backend, operation, function, number) REGISTER_BODY_NAMED(backend, operation, function, number)
#define REGISTER_BODY_NAMED(backend, operation, function, number) \
  [[maybe_unused]] static const bool registered_body_##number =   \
      ::pistachio::kernels::register_body(::pistachio::kernels::Backend::backend, operation, function)
