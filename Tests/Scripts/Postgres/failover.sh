#!/usr/bin/env bash
# Run by .ci/postgres: CYCLES failovers to a replica under load.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 failover.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")" "${CYCLES:-3}"
