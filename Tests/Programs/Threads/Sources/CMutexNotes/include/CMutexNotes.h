#ifndef SLUICE_MUTEX_NOTES_H
#define SLUICE_MUTEX_NOTES_H

// There is nothing to call: the program's own functions take the place of two of the Swift runtime's.

#endif
