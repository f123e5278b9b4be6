// Found before ATen's header of this name, which it includes unless only declarations are wanted (kernels/ops/tensor_functions.h).
#ifndef PISTACHIO_TENSOR_DECLARATIONS_ONLY
#include_next <ATen/DeviceGuard.h>
#endif
