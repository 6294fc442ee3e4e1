#include "internal.h"
void *sluice_vm_self_test(sluice_vm *vm) { (void)vm; return json_array(); }
