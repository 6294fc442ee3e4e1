/* The header stands alone: this file compiles it as C, and makes a target of it. What it declares is implemented in
 * Swift, in the target SluiceC. */
#include "sluice.h"

_Static_assert(sizeof(sluice_context) == 8, "a handle has 64 bits on every machine");
