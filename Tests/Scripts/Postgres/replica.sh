#!/usr/bin/env bash
# Run by .ci/postgres: reads from a replica that falls behind and is killed, for SECONDS of load.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 replica.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")" "${SECONDS_OF_LOAD:-20}"
