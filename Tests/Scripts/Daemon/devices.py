"""Runs one server for a long time with five devices and churn: each is a daemon whose rows change through its gateway, which
goes away and comes back. At the end it reports the server's memory and descriptors over time, and fails
unless all stores equal the server.

    devices.py path/to/sluice SECONDS [SEED]

The server is on SQLite, or on the PostgreSQL database whose URL SLUICE_TEST_POSTGRES has, as `.ci/postgres` sets it.
"""
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

from rig import Rig, figures, slope

sluice, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
chance = random.Random(seed)
TABLES, DEVICES, ROWS = ["notes", "items", "orders"], 5, 400


def write(device):
    """Changes a row that any device may change. Returns 1 if the device took the change, and 0 if its row has been deleted
    or changed by another meanwhile."""
    table, id = chance.choice(TABLES), f"r{chance.randrange(ROWS)}"
    path, body = f"/tables/{table}", {"value": chance.getrandbits(40), "text": "x" * chance.randrange(200)}
    kind = chance.choice(["write", "write", "write", "delete"])
    status, answer = (
        device.ask("DELETE", f"{path}/{id}") if kind == "delete" else device.ask("PATCH", f"{path}/{id}", body))
    if status in (404, 410) and kind == "write":
        status, answer = device.ask("POST", path, {"id": id, **body})
    if status in (200, 201, 204):
        return 1
    if status in (404, 409, 410, 412):
        return 0
    raise AssertionError(f"{kind} of {path}/{id} answers {status}: {answer}")


with tempfile.TemporaryDirectory() as folder:
    devices = []
    try:
        database = "postgres:$SLUICE_TEST_POSTGRES" if "SLUICE_TEST_POSTGRES" in os.environ else None
        for number in range(DEVICES):
            home = pathlib.Path(folder) / f"device{number}"
            home.mkdir()
            port = devices[0].port if devices else None
            # The client's change wins: nothing is left for anybody to decide.
            devices.append(Rig(sluice, home, TABLES, "conflicts: client-wins", database=database, port=port))
            devices[-1].start_daemon()
        server, begin = devices[0].server, time.monotonic()
        samples, writes, stops, next_sample, asleep = [], 0, 0, 5, {}
        while (now := time.monotonic() - begin) < seconds:
            for device in [d for d in asleep if asleep[d] < now]:
                os.kill(device.daemon.pid, signal.SIGCONT)
                del asleep[device]
            awake = [device for device in devices if device not in asleep]
            if len(awake) > 2 and chance.random() < 0.02:
                device = chance.choice(awake)
                os.kill(device.daemon.pid, signal.SIGSTOP)
                asleep[device], stops = now + chance.uniform(0.5, 10), stops + 1
                awake.remove(device)
            for device in awake:
                writes += write(device)
            if now > next_sample:
                memory, files = figures(server)
                samples.append((now, memory, files))
                next_sample = now + 5
                if len(samples) % 12 == 0:
                    print(f"{now:.0f} s: {memory} KiB, {files} descriptors, {writes} writes", flush=True)
            time.sleep(0.5)
        for device in asleep:
            os.kill(device.daemon.pid, signal.SIGCONT)
        # Twice: what the last one sends, the first one has to fetch.
        for device in devices * 2:
            device.settle()
        for table in TABLES:
            theirs = {id: row["value"] for id, row in devices[0].rows(table, True).items()}
            for number, device in enumerate(devices):
                mine = {id: row["value"] for id, row in device.rows(table, False).items()}
                if mine != theirs:
                    raise AssertionError(
                        f"device {number} and the server differ in {table}: {set(mine.items()) ^ set(theirs.items())}")
        # The first third is the warm-up.
        warm = [s for s in samples if s[0] > seconds / 3]
        print(f"devices.py: {seconds:.0f} s, {DEVICES} devices, {writes} writes, {stops} times one was away; the server's "
              f"memory {warm[0][1]} to {warm[-1][1]} KiB, {slope(warm):.0f} KiB an hour; descriptors "
              f"{min(s[2] for s in warm)} to {max(s[2] for s in warm)}; stores and server are equal")
    except BaseException as error:
        print(f"devices.py: {error}\n" + "".join(device.tail() for device in devices), file=sys.stderr)
        raise
    finally:
        for device in reversed(devices):
            device.end()
