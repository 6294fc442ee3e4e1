#!/usr/bin/env bash
# Run by .ci/postgres: writes through four processes, in whose order of changes readers find everything. WRITES is how many.
set -euo pipefail
exec python3 "$(dirname "$0")/order.py" .build/debug/sluice "${WRITES:-5000}" "$@"
