// The program of the tests, for ThreadSanitizer to watch.
#include "../../../../Suites/SluiceCTests/Programs/threads.c"
