"""Reads from a replica: it answers, but never less than a client has seen; where it is behind or away the primary answers.

    replica.py SLUICE SECONDS
"""
import collections
import os
import random
import sys
import threading
import time

from cluster import Process, fail
from course import TABLES, Course
from servers import Server, wait_until

PROCESSES = 3
ENDLESS = 1 << 40
TRACK = {"Prefer": "odata.track-changes"}


class Main:
    """The primary as a database of processes."""

    def __init__(self, primary):
        self.url = f"postgres://sluice@127.0.0.1:{primary.port}/postgres?readers=2"


def expect(what, found, wanted):
    if found != wanted:
        fail(what, "found", found, "instead of", wanted)


def page(process, table, token=None):
    status, headers, answer = process.call(
        "GET", f"/tables/{table}?$deltatoken={token}" if token else f"/tables/{table}", headers=TRACK)
    expect("a page of changes", status, 200)
    return sorted(row["id"] for row in answer["items"]), headers["x-sluice-delta-token"]


def ids(process, query=""):
    status, _, answer = process.call("GET", f"/tables/u{query}")
    expect("a list", status, 200)
    return sorted(row["id"] for row in answer["items"])


def stories(one, other, replica):
    """What is seen while the replica stands still."""
    expect("an insert", one.call("POST", "/tables/u", {"id": "a"})[0], 201)
    rows, token = page(other, "u")
    expect("the first page", rows, ["a"])
    wait_until("the replica has the first record", lambda: replica.sql("SELECT id FROM u") == ["a"])
    replica.sql("SELECT pg_wal_replay_pause()")
    wait_until("the replica stands still", lambda: replica.sql("SELECT pg_get_wal_replay_pause_state()") == ["paused"])
    status, _, record = one.call("POST", "/tables/u", {"id": "b"})
    expect("an insert", status, 201)
    # Who wrote it sees it, in whatever way.
    newer = page(one, "u", token)
    expect("the writer's process by token", newer[0], ["b"])
    # It has promised nothing, so it may answer from the replica: as much as its token has seen.
    expect("another process by an older token", page(other, "u", token)[0], [])
    # All others see it through any process.
    expect("another process by a newer token", page(other, "u", newer[1])[0], [])
    expect("a list of another process", ids(other), ["a", "b"])
    expect("a record of another process", other.call("GET", "/tables/u/b")[0], 200)
    expect("a digest of another process", other.call("GET", "/tables/u/$digest")[2]["count"], 2)
    time_of = f"cast({record['updatedAt']},Edm.DateTimeOffset)".replace(",", "%2C")
    expect("a list by a newer time", ids(other, f"?$filter=updatedAt%20ge%20{time_of}&$orderby=updatedAt"), ["b"])
    replica.sql("SELECT pg_wal_replay_resume()")
    wait_until("the other process hears of it", lambda: page(other, "u", token)[0] == ["b"])


def load(processes, replica, seconds):
    """Writers and readers while the replica falls behind, is killed and comes back."""
    course = Course(processes, ENDLESS)
    statuses, isDone = collections.Counter(), threading.Event()

    def ask():
        number = 0
        while not isDone.is_set():
            number += 1
            process, name = random.choice(processes), f"q{number}"
            statuses[process.call("POST", "/tables/u", {"id": name})[0]] += 1
            statuses[random.choice(processes).call("GET", f"/tables/u/{name}")[0]] += 1

    asker = threading.Thread(target=ask, daemon=True)
    course.start()
    asker.start()
    kills, pauses, answered = 0, 0, 0
    ends = time.time() + seconds
    while time.time() < ends:
        time.sleep(random.uniform(0.5, 1.5))
        if random.random() < 0.3:
            answered += committed(replica)
            replica.kill()
            time.sleep(random.uniform(0, 2))
            replica.start()
            kills += 1
        else:
            replica.sql("SELECT pg_wal_replay_pause()")
            time.sleep(random.uniform(0, 1))
            replica.sql("SELECT pg_wal_replay_resume()")
            pauses += 1
    course.stop()
    course.finish()
    isDone.set()
    asker.join()
    answered += committed(replica)
    missed = course.missed()
    print(
        f"{seconds} s: {len(course.acknowledged)} writes, {pauses} pauses and {kills} kills of the replica, which committed"
        f" {answered} transactions; missed by token {missed['token']}, by time {missed['time']}; others were answered"
        f" {dict(sorted(statuses.items()))}")
    # 201 for what was written, 200 for reading it at once through another process.
    if set(statuses) != {200, 201}:
        fail("requests were answered with", statuses)
    return missed == {"token": 0, "time": 0} and kills > 0 and answered > 100


def committed(replica):
    return int(replica.sql("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'")[0])


def play(sluice, seconds):
    primary, replica = Server("one"), Server("two")
    processes = []
    try:
        primary.make()
        primary.start()
        replica.copy(primary)
        replica.start()
        os.environ["SLUICE_REPLICA"] = f"postgres://sluice@127.0.0.1:{replica.port}/postgres?readers=2"
        for _ in range(PROCESSES):
            processes.append(Process(sluice, Main(primary), TABLES + "  u: {}\n", "replica: postgres:$SLUICE_REPLICA\n"))
        before = committed(replica)
        wait_until("processes read from the replica", lambda: page(processes[0], "t")[0] == [] and committed(replica) > before + 20)
        stories(processes[0], processes[1], replica)
        return load(processes, replica, seconds)
    finally:
        for process in processes:
            process.end()
        primary.stop()
        replica.stop()


sys.exit(0 if play(os.path.realpath(sys.argv[1]), int(sys.argv[2])) else 1)
