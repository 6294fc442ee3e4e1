"""The start of the program, and the memory of a daemon that has nothing to do.

    idle.py path/to/sluice WAITING [ROWS]

First `sluice status` and `sluice --version` in turns, on a store with so many changes that wait. Then a daemon with five tables of
ROWS rows each, ten seconds after its first pulls: its memory by `/proc/PID/smaps`, with the five largest parts.
"""
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from rig import Rig

sluice, waiting = sys.argv[1], int(sys.argv[2])
rows = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000
TABLES = ["assets", "notes", "orders", "parts", "visits"]


def lines(folder, count):
    path = folder / f"{count}.jsonl"
    path.write_text("".join(
        json.dumps({"id": f"w{number}", "value": number, "text": "as long as a short sentence is"}) + "\n"
        for number in range(count)))
    return path


def run(*words):
    begin = time.monotonic()
    done = subprocess.run([sluice, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words} ends with {done.returncode}: {done.stderr}")
    return (time.monotonic() - begin) * 1000


def start(folder):
    store = ["--store", folder / "local.db"]
    run("import", "notes", lines(folder, waiting), *store)
    status, bare = [], []
    for _ in range(15):
        status.append(run("status", *store))
        bare.append(run("--version"))
    print(f"idle: sluice status with {waiting} changes waiting, median {statistics.median(status):.1f} ms "
          f"({min(status):.1f} to {max(status):.1f}); sluice --version {statistics.median(bare):.1f} ms", flush=True)


def parts(process):
    """The resident memory in KiB by what it belongs to, and how much of it no other process can share."""
    sizes, own, name = collections.Counter(), 0, ""
    with open(f"/proc/{process.pid}/smaps") as file:
        for line in file:
            if found := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) \S+ \S+ (\d+)\s*(.*)", line):
                path = found.group(3)
                named = pathlib.Path(path).name if path.startswith("/") else path
                name = named or "memory of the allocator and of stacks"
            elif line.startswith("Rss:"):
                sizes[name] += int(line.split()[1])
            elif line.startswith("Private_"):
                own += int(line.split()[1])
    return sizes, own


def memory(folder):
    folder.mkdir()
    rig = Rig(sluice, folder, TABLES)
    try:
        rig.start_daemon()
        for table in TABLES:
            run("import", table, lines(folder, rows), "--store", folder / "local.db")
        rig.settle()
        time.sleep(10)
        sizes, own = parts(rig.daemon)
        print(f"idle: a daemon with {len(TABLES)} tables of {rows} rows holds {sum(sizes.values()) / 1024:.1f} MiB, "
              f"{own / 1024:.1f} of them its own", flush=True)
        for name, size in sizes.most_common(5):
            print(f"idle:   {size / 1024:6.1f} MiB  {name}")
    finally:
        rig.end()


with tempfile.TemporaryDirectory() as folder:
    start(pathlib.Path(folder))
    memory(pathlib.Path(folder) / "daemon")
