"""Kills and stops a daemon in the middle of its work, many times: what its gateway acknowledged is there afterwards, once,
and reaches the server.

    kills.py path/to/sluice CYCLES [SEED]
"""
import os
import random
import signal
import sys
import tempfile
import threading
import time

from rig import Model, Rig

sluice, cycles, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
chance = random.Random(seed)
counts = {"kill": 0, "stop": 0, "stop of the server": 0, "lost answers": 0}


def check(rig, model):
    rig.settle()
    server = {table: rig.rows(table, True) for table in rig.tables}
    store = {table: rig.rows(table, False) for table in rig.tables}
    model.check(server, "the server")
    model.check(store, "the store")
    for table in rig.tables:
        mine = {id: row["value"] for id, row in store[table].items()}
        theirs = {id: row["value"] for id, row in server[table].items()}
        if mine != theirs:
            raise AssertionError(f"store and server differ in {table}: {set(mine.items()) ^ set(theirs.items())}")
    model.settle(server)


def cycle(rig, model):
    """Writes, and meanwhile the daemon is killed, or it or the server is stopped for a while."""
    kind = chance.choices(["kill", "stop", "stop of the server"], [6, 3, 1])[0]
    counts[kind] += 1
    moment, pause = chance.uniform(0, 0.15), chance.uniform(0.02, 0.4)

    def strike():
        time.sleep(moment)
        if kind == "kill":
            rig.daemon.kill()
            return
        target = rig.daemon if kind == "stop" else rig.server
        os.kill(target.pid, signal.SIGSTOP)
        time.sleep(pause)
        os.kill(target.pid, signal.SIGCONT)

    striking = threading.Thread(target=strike)
    striking.start()
    for _ in range(chance.randrange(1, 12)):
        if not model.write(rig, chance, chance.choice(rig.tables)):
            counts["lost answers"] += 1
            break
    striking.join()
    if kind == "kill":
        rig.daemon.wait()
        rig.start_daemon()
        model.check({table: rig.rows(table, False) for table in rig.tables}, "the store after the kill")


with tempfile.TemporaryDirectory() as folder:
    rig, model, done = Rig(sluice, folder, ["notes", "items"]), Model(), 0
    try:
        rig.start_daemon()
        for done in range(1, cycles + 1):
            cycle(rig, model)
            if done % 25 == 0 or done == cycles:
                check(rig, model)
                print(f"{done} cycles, {model.acknowledged} acknowledged writes", flush=True)
        print(f"kills.py: seed {seed}, {done} cycles ({counts['kill']} kills, {counts['stop']} stops of the daemon, "
              f"{counts['stop of the server']} of the server), {model.acknowledged} acknowledged writes, "
              f"{counts['lost answers']} lost answers, 0 violations")
    except BaseException as error:
        print(f"kills.py: seed {seed}, after {done} cycles: {error}\n{rig.tail()}", file=sys.stderr)
        raise
    finally:
        rig.end()
