#include "CSluiceCommit.h"

/* `git archive` writes the commit here: see .gitattributes. A build from a clone is told by SLUICE_COMMIT. */
static const char archived[] = "$Format:%H$";

#define TEXT(name) QUOTED(name)
#define QUOTED(text) #text

const char *csluice_commit(void) {
#ifdef SLUICE_COMMIT
    return TEXT(SLUICE_COMMIT);
#else
    return archived[0] == '$' ? "" : archived;
#endif
}
