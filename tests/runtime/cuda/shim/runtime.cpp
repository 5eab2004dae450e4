// What runs the threads of a kernel, compiled once for all units of a mode.
#define SHIM_RUNTIME
#include "warp_groups.h"
