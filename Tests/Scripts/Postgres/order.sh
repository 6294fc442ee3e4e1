#!/usr/bin/env bash
# Run by .ci/postgres: writes through four processes, in whose order of changes readers find everything; and that readers
# miss something without the lock that gives that order. WRITES is how many.
set -euo pipefail
cd "$(dirname "$0")"
sluice=$(realpath "${SLUICE:-../../../.build/debug/sluice}")
python3 order.py "$sluice" "${WRITES:-5000}"
# A play in which nothing comes in another order by chance shows nothing.
for _ in 1 2 3; do python3 order.py "$sluice" "${PLANTED_WRITES:-3000}" --planted && exit; done
echo "readers missed nothing without the lock: the test finds nothing out" >&2
exit 1
