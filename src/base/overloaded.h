// Several lambdas as one visitor of a variant: std::visit(Overloaded{[](const A&) ..., [](const B&) ...}, variant).
#pragma once

namespace pistachio {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace pistachio
