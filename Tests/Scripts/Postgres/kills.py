"""Kills `sluice serve` processes and the database, in turn, under the load of `order.py`: what was answered is there, once,
with the version that was answered, and readers miss nothing.

    kills.py SLUICE CYCLES

A cycle kills one of four processes, or the server's first process, with SIGKILL, and starts it anew; the next one comes
after writes were answered again. Writers send what got no answer again, with the same request ids, to another process.
"""
import random
import sys
import time

from cluster import Database, Process, fail
from course import TABLES, Course

PROCESSES = 4
# Writers end with the kills; there are never that many.
ENDLESS = 1 << 40


def cycles(course, database, processes, wanted):
    kills = {"process": 0, "database": 0}
    for cycle in range(wanted):
        answered = len(course.acknowledged)
        deadline = time.time() + 120
        while len(course.acknowledged) < answered + 20:
            if time.time() > deadline:
                fail("no write is answered any more after", kills)
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.2))
        if cycle % 2:
            database.kill()
            kills["database"] += 1
            # With some, a process dies while there is no database.
            if random.random() < 0.2:
                processes[0].kill()
                database.start()
                processes[0].start()
                kills["process"] += 1
            else:
                database.start()
        else:
            victim = random.choice(processes)
            victim.kill()
            victim.start()
            kills["process"] += 1
        if cycle % 50 == 49:
            print(f"{cycle + 1} cycles, {len(course.acknowledged)} writes answered", flush=True)
    return kills


def play(sluice, wanted):
    database = Database()
    processes = [Process(sluice, database, TABLES) for _ in range(PROCESSES)]
    try:
        course = Course(processes, ENDLESS)
        started = time.time()
        course.start()
        kills = cycles(course, database, processes, wanted)
        course.stop()
        course.finish()
        seconds = time.time() - started
        rows = database.sql("SELECT key, version FROM t")
    finally:
        for process in processes:
            process.end()
    words, isWrong = course.account(rows)
    print(f"{kills['process']} kills of a process and {kills['database']} of the database in {seconds:.0f} s; {words}")
    return not isWrong


sys.exit(0 if play(sys.argv[1], int(sys.argv[2])) else 1)
