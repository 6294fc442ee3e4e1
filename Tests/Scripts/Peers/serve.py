"""Starts `sluice serve` on a free port, runs the scripts given after the program against it, and ends it.

    serve.py path/to/sluice pyodata_client.py python_odata_client.py ...
"""
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
program, scripts = sys.argv[1], sys.argv[2:]
failed = []
for script in scripts:
    # Each begins with an empty database.
    server = subprocess.Popen(
        [program, "serve", "--config", str(here / "backend.yaml")], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        found = re.match(r"listening on (http://\S+)", line)
        if not found:
            sys.exit(f"sluice serve did not start: {line!r}")
        # A program that was compiled runs by itself.
        run = ["mono", script] if script.endswith(".exe") else [sys.executable, str(here / script)]
        result = subprocess.run(run + [found.group(1)], timeout=300)
        print(f"{script}: {'passed' if result.returncode == 0 else 'FAILED'}", flush=True)
        if result.returncode:
            failed.append(script)
    finally:
        server.terminate()
        server.wait(timeout=30)
sys.exit(1 if failed else 0)
