// Fuel by line. While a profile is taken the hook runs at every step, and what was spent since the last one belongs to
// the line that ran then.
#include "internal.h"

#include <stdio.h>
#include <string.h>

/// Gives what was spent since the last step to the line that ran.
void sb_profile_finish(sluice_vm *vm) {
    const sluice_call *call = vm->current;
    if (vm->profile == NULL || vm->profile_key[0] == 0 || vm->profile_fuel <= call->fuel_left) return;
    json_int_t spent = json_integer_value(json_object_get(vm->profile, vm->profile_key));
    json_object_set_new(vm->profile, vm->profile_key, json_integer(spent + vm->profile_fuel - call->fuel_left));
}

void sb_profile_step(sluice_vm *vm, lua_State *L, lua_Debug *activation) {
    sb_profile_finish(vm);
    vm->profile_fuel = vm->current->fuel_left;
    vm->profile_key[0] = 0;
    if (!lua_getinfo(L, "Sl", activation) || activation->currentline <= 0) return;
    if (strcmp(activation->short_src, vm->prelude_name) == 0) return;
    snprintf(
        vm->profile_key, sizeof vm->profile_key, "%s:%d", activation->short_src, activation->currentline);
}

void sluice_vm_profile_start(sluice_vm *vm) {
    json_decref(vm->profile);
    vm->profile = json_object();
    vm->profile_key[0] = 0;
}

void *sluice_vm_profile_take(sluice_vm *vm) {
    json_t *profile = vm->profile;
    vm->profile = NULL;
    return profile;
}
