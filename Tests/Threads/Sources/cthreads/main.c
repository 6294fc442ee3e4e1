// The program of the tests, for ThreadSanitizer to watch.
#include "../../../SluiceCTests/Programs/threads.c"
