// Lua as it comes, with all of its libraries: what the sandbox's own functions are held against in tests.
#ifndef SLUICE_LUA_REFERENCE_H
#define SLUICE_LUA_REFERENCE_H

/// Runs a text that returns a table of functions, calls the one named `run` with two numbers, and joins the texts in
/// the table that it returns by line breaks. The answer is freed with free; an error is its text after "error: ".
char *lua_reference_run(const char *text, long seed, long count);

#endif
