#!/usr/bin/env bash
# Run by .ci/postgres: TLS to the database, and what is refused of it.
set -euo pipefail
cd "$(dirname "$0")"
exec python3 tls.py "$(realpath "${SLUICE:-../../../.build/debug/sluice}")"
