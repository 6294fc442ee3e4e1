#!/usr/bin/env bash
# Run by .ci/postgres: clients and an operator's own SQL write an adopted table for a while.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 adopt.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")" "${SECONDS_OF_LOAD:-20}"
