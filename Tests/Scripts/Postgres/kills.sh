#!/usr/bin/env bash
# Run by .ci/postgres: CYCLES times a process or the database is killed under load.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 kills.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")" "${CYCLES:-10}"
