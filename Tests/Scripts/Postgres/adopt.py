"""An adopted table that an operator's own SQL and clients write at the same time: whoever reads by token ends with what is in
the operator's table, and nothing that was answered is lost.

    adopt.py SLUICE SECONDS
"""
import os
import random
import subprocess
import sys
import threading
import time

from cluster import Database, Process, fail

TABLE = "  things: { key: code, pageSize: 500, columns: { n: integer, who: string } }\n"
PROCESSES = 3
TRACK = {"Prefer": "odata.track-changes"}


def statements(worker, turn):
    """What an operator's programs do, in one transaction."""
    keys = [f"s{random.randint(1, 400)}" for _ in range(random.randint(1, 8))]
    listed = ", ".join(f"('{key}', {turn}, 'sql')" for key in dict.fromkeys(keys))
    return random.choice([
        f"INSERT INTO things VALUES {listed} ON CONFLICT (code) DO UPDATE SET n = excluded.n, who = excluded.who",
        f"UPDATE things SET n = n + 1 WHERE code LIKE '%{random.randint(0, 9)}'",
        f"DELETE FROM things WHERE code IN ('{keys[0]}', '{keys[-1]}')",
        f"UPDATE things SET code = 's{random.randint(1000, 9999)}x{worker}x{turn}' WHERE code = '{keys[0]}'",
        f"BEGIN; UPDATE things SET who = 'sql' WHERE code = '{keys[0]}'; SELECT pg_sleep({random.random() * 0.05}); "
        f"DELETE FROM things WHERE code = '{keys[-1]}'; COMMIT",
        f"BEGIN; INSERT INTO things VALUES ('r{worker}-{turn}', 1, 'rolled back'); ROLLBACK",
    ])


class Play:
    def __init__(self, database, processes):
        self.database, self.processes = database, processes
        self.isDone, self.ends = threading.Event(), threading.Event()
        # Records that clients alone write, with the version that was answered last.
        self.answered, self.lock = {}, threading.Lock()
        self.sql, self.deadlocks, self.busy = 0, 0, 0

    def run_sql(self, worker):
        environment = {**os.environ, "PGOPTIONS": f"-c search_path={self.database.name}"}
        turn = 0
        while not self.isDone.is_set():
            turn += 1
            result = subprocess.run(
                ["psql", "-qAt", "-v", "ON_ERROR_STOP=1", self.database.direct, "-c", statements(worker, turn)],
                capture_output=True, text=True, env=environment)
            if result.returncode and "deadlock" in result.stderr:
                self.deadlocks += 1
            elif result.returncode:
                # Nothing of the backend's may be in the way of the operator's own SQL.
                fail("the operator's SQL failed:", result.stderr)
            self.sql += 1

    def run_client(self, worker):
        turn = 0
        while not self.isDone.is_set():
            turn += 1
            process = random.choice(self.processes)
            if random.random() < 0.5:
                name = f"c{worker}-{random.randint(1, 50)}"
                status, _, record = process.call("PUT", f"/tables/things/{name}", {"id": name, "n": turn, "who": "client"})
                if status == 404:
                    status, _, record = process.call("POST", "/tables/things", {"id": name, "n": turn, "who": "client"})
                if status in (200, 201):
                    with self.lock:
                        self.answered[name] = record
            else:
                # Those that the operator's SQL writes too.
                status, _, _ = process.call("PATCH", f"/tables/things/s{random.randint(1, 400)}", {"who": "client"})
                status = 200 if status in (404, 410) else status
            if status == 503:
                self.busy += 1
            elif status not in (200, 201):
                fail("a client was answered", status)

    def read(self, mirror):
        token, quiet, turn = None, 0, 0
        while quiet < 3:
            ends = self.ends.is_set()
            turn += 1
            process = self.processes[turn % len(self.processes)]
            status, headers, answer = process.call(
                "GET", f"/tables/things?$deltatoken={token}" if token else "/tables/things", headers=TRACK)
            if status == 503:
                continue
            if status != 200:
                fail("the reader was answered", status)
            token = headers["x-sluice-delta-token"]
            for row in answer["items"]:
                if row.get("deleted"):
                    mirror.pop(row["id"], None)
                else:
                    mirror[row["id"]] = (row["n"], row["who"])
            quiet = quiet + 1 if ends and not answer["items"] else 0


def play(sluice, seconds):
    database = Database()
    database.sql(f"SET ROLE {database.name}; CREATE TABLE things (code text PRIMARY KEY, n int, who text); "
                 "INSERT INTO things SELECT 's' || i, i, 'sql' FROM generate_series(1, 2000) AS i")
    processes = []
    config = f"{database.folder}/adopt.yaml"
    with open(config, "w") as file:
        file.write(f"database: postgres:$SLUICE_DATABASE\ntables:\n{TABLE}")
    environment = {**os.environ, "SLUICE_DATABASE": database.url}
    subprocess.run([sluice, "backend", "adopt", "--config", config, "things"], check=True, env=environment)
    try:
        processes = [Process(sluice, database, TABLE) for _ in range(PROCESSES)]
        course, mirror = Play(database, processes), {}
        reader = threading.Thread(target=course.read, args=(mirror,), daemon=True)
        writers = [threading.Thread(target=run, args=(number,), daemon=True)
                   for number in range(3) for run in (course.run_sql, course.run_client)]
        for thread in [reader, *writers]:
            thread.start()
        time.sleep(seconds)
        course.isDone.set()
        for thread in writers:
            thread.join()
        course.ends.set()
        reader.join()
    finally:
        for process in processes:
            process.end()
    own = {}
    for row in database.sql("SELECT code, n, who FROM things"):
        code, n, who = row.split("|")
        own[code] = (int(n) if n else None, who)
    copied = {row for row in database.sql("SELECT id, n, who FROM sluice_copy_things WHERE NOT deleted")}
    unequal = copied ^ {row for row in database.sql("SELECT code, n, who FROM things")}
    differing = [code for code in set(own) | set(mirror) if own.get(code) != mirror.get(code)]
    lost = [name for name in course.answered if name not in own]
    subprocess.run([sluice, "backend", "adopt", "--config", config, "--undo", "things"], check=True, env=environment)
    left = database.sql("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'things'::regclass")[0]
    after = len(database.sql("SELECT code FROM things"))
    print(
        f"{seconds} s: {course.sql} transactions of SQL ({course.deadlocks} ended as deadlocks), {len(course.answered)} records of"
        f" clients alone, {course.busy} times 503; {len(own)} rows: {len(differing)} differ at the reader by token, {len(unequal)} in"
        f" the copy, {len(lost)} are lost; after undoing {after} rows and {left} triggers")
    if differing:
        print([(code, own.get(code), mirror.get(code)) for code in differing[:5]])
    return not (differing or unequal or lost or int(left)) and after == len(own) and course.sql > 20


sys.exit(0 if play(os.path.realpath(sys.argv[1]), int(sys.argv[2])) else 1)
