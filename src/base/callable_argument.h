// Guards functions that take a callable and are used inside co_await against the GCC 12 bug described in task.h: a closure that owns
// something must be a named object there. Trivially destructible rvalues (closures that capture references or numbers) are safe.
#pragma once

#include <type_traits>

namespace pistachio {

template <typename Callable>
inline constexpr bool is_safe_in_co_await =
    std::is_lvalue_reference_v<Callable> || std::is_trivially_destructible_v<std::remove_reference_t<Callable>>;

// How to store such a callable: a named one by reference (it outlives the co_await), any other by value.
template <typename Callable>
using KeptCallable = std::conditional_t<std::is_lvalue_reference_v<Callable>, Callable, std::remove_cvref_t<Callable>>;

}  // namespace pistachio
