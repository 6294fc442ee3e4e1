"""Runs a daemon for a long time: five tables, churn, a network that comes and goes, reloads, and a server that is started
anew every minute. At the end memory and descriptors are told over time, and store and server are equal.

    soak.py path/to/sluice SECONDS [SEED]
"""
import http.client
import json
import os
import random
import signal
import sys
import tempfile
import time

from rig import Model, Rig, figures, slope

sluice, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
chance = random.Random(seed)
TABLES = ["notes", "items", "orders", "people", "places"]


def elsewhere(rig):
    """Another device changes rows at the server."""
    server = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=10)
    try:
        table = chance.choice(TABLES)
        id = f"e{chance.randrange(200)}"
        body = json.dumps({"id": id, "value": chance.getrandbits(30), "text": "elsewhere"})
        fields = {"ZUMO-API-VERSION": "2.0.0", "Content-Type": "application/json"}
        server.request("POST", f"/tables/{table}", body, fields)
        answer = server.getresponse()
        answer.read()
        if answer.status == 409:
            server.request("PATCH", f"/tables/{table}/{id}", body, fields)
            server.getresponse().read()
    except (OSError, http.client.HTTPException):
        pass
    finally:
        server.close()


with tempfile.TemporaryDirectory() as folder:
    rig, model = Rig(sluice, folder, TABLES), Model()
    try:
        rig.start_daemon()
        begin = time.monotonic()
        samples, restarts, reloads, flaps = [], 0, 0, 0
        next_restart, next_reload, next_flap, next_sample = 60, 20, 7, 5
        while (now := time.monotonic() - begin) < seconds:
            for _ in range(3):
                model.write(rig, chance, chance.choice(TABLES))
            elsewhere(rig)
            if now > next_flap:
                # A network that is away and comes back: the server is silent meanwhile.
                os.kill(rig.server.pid, signal.SIGSTOP)
                time.sleep(chance.uniform(0.1, 2))
                os.kill(rig.server.pid, signal.SIGCONT)
                flaps, next_flap = flaps + 1, now + chance.uniform(5, 15)
            if now > next_reload:
                text = rig.config.read_text()
                rig.config.write_text(text.replace("interval: 2s", "interval: 3s") if "interval: 2s" in text
                                      else text.replace("interval: 3s", "interval: 2s"))
                os.kill(rig.daemon.pid, signal.SIGHUP)
                reloads, next_reload = reloads + 1, now + 20
            if now > next_restart:
                rig.server.kill()
                rig.server.wait()
                time.sleep(1)
                rig.start_server()
                restarts, next_restart = restarts + 1, now + 60
            if now > next_sample:
                memory, files = figures(rig.daemon)
                samples.append((now, memory, files))
                next_sample = now + 5
                if len(samples) % 12 == 0:
                    print(f"{now:.0f} s: {memory} KiB, {files} descriptors, {model.acknowledged} writes", flush=True)
            # Rows do not grow without end: the churn deletes as much as it makes.
            live = [key for key in model.known if model.known[key] is not None]
            for key in live[:max(0, len(live) - 1000)]:
                status, _ = rig.ask("DELETE", f"/tables/{key[0]}/{key[1]}")
                if status in (200, 204, 404, 410):
                    model.known[key] = None
            model.known = {key: value for key, value in model.known.items() if value is not None or model.doubt.get(key)}
            time.sleep(0.05)
        rig.settle()
        for table in TABLES:
            mine = {id: row["value"] for id, row in rig.rows(table, False).items()}
            theirs = {id: row["value"] for id, row in rig.rows(table, True).items()}
            if mine != theirs:
                raise AssertionError(f"store and server differ in {table}: {set(mine.items()) ^ set(theirs.items())}")
        # The first third is the warm-up.
        warm = [s for s in samples if s[0] > seconds / 3]
        print(f"soak.py: {seconds:.0f} s, {model.acknowledged} writes, {flaps} flaps, {reloads} reloads, {restarts} "
              f"restarts of the server; memory {warm[0][1]} to {warm[-1][1]} KiB, {slope(warm):.0f} KiB an hour; "
              f"descriptors {min(s[2] for s in warm)} to {max(s[2] for s in warm)}; store and server are equal")
    except BaseException as error:
        print(f"soak.py: {error}\n{rig.tail()}", file=sys.stderr)
        raise
    finally:
        rig.end()
