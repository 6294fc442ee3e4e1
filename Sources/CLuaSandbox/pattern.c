#include "internal.h"
void sb_add_patterns(lua_State *L, int table) {
    static const char *const plain[] = {"find", "match", "gmatch", "gsub", NULL};
    sb_guard_stock(L, table + 1, table, plain);
}
