#ifndef CSLUICE_COMMIT_H
#define CSLUICE_COMMIT_H

/* The hash of the commit that this was built from; empty where nobody knows it. Lives as long as the process. */
const char *csluice_commit(void);

#endif
