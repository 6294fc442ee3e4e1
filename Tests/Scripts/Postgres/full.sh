#!/usr/bin/env bash
# Run by .ci/postgres: a full disk under the database.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 full.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")"
