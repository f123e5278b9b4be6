#include "optimizer/number_range.h"

#include "expr/cast.h"

namespace pistachio {

NumberRange range_of_type(LogicalType type) {
  if (type.kind() == TypeKind::Decimal) {
    const Int128 most = power_of_ten(type.precision()) - 1;
    return {-most, most};
  }
  const Int128 most = (Int128{1} << (8 * type.value_bytes() - 1)) - 1;
  return {-most - 1, most};
}

int scale_of_number(LogicalType type) {
  return type.kind() == TypeKind::Decimal ? type.scale() : 0;
}

}  // namespace pistachio
