"""Four `sluice serve` processes on one PostgreSQL database, eight writers with transactions of random length, and readers
that pull all the while by token and by time: none may miss a record.

    order.py SLUICE WRITES [--kill]

With --kill a process is killed and started anew every second: what was answered is there, and nothing is there twice.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

sluice, wanted, kill = sys.argv[1], int(sys.argv[2]), "--kill" in sys.argv
server = os.environ["SLUICE_TEST_POSTGRES"]
PROCESSES, WRITERS = 4, 8
schema = "order_" + uuid.uuid4().hex[:8]
parameters = os.environ.get("SLUICE_TEST_PARAMETERS", "readers=2")
psql = os.environ.get("SLUICE_TEST_ADMINISTRATOR", server)
subprocess.run(["psql", "-q", psql, "-c", f"CREATE SCHEMA {schema}"], check=True)
# A pooler keeps no options of a connection: there the user's own setting has to do.
if "pooler" in parameters:
    subprocess.run(["psql", "-q", psql, "-c", f"ALTER ROLE sluice SET search_path = {schema}"], check=True)
    os.environ["SLUICE_DATABASE"] = f"{server}?{parameters}"
else:
    os.environ["SLUICE_DATABASE"] = f"{server}?{parameters}&options=-csearch_path%3D{schema}"
folder = tempfile.mkdtemp(prefix="sluice-order-")
config = f"{folder}/backend.yaml"
with open(config, "w") as file:
    file.write("database: postgres:$SLUICE_DATABASE\ntables:\n  t: { pageSize: 500 }\n")


class Process:
    """A process that serves, always on the same port once it has one."""

    def __init__(self):
        self.port = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sluice, "serve", "--config", config, "--port", str(self.port)], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listening" not in line:
            raise SystemExit("sluice serve does not start")
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def call(process, method, path, body=None, headers={}):
    request = urllib.request.Request(
        f"http://127.0.0.1:{process.port}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"ZUMO-API-VERSION": "3.0.0", "Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), None
    except OSError:
        return 0, {}, None


processes = [Process() for _ in range(PROCESSES)]
lock, done = threading.Lock(), threading.Event()
acknowledged, refused = {}, 0


def write(number):
    global refused
    turn = 0
    while True:
        with lock:
            if len(acknowledged) >= wanted:
                return
        turn += 1
        ids = [f"w{number}-{turn}-{part}" for part in range(random.randint(1, 20))]
        requests = [
            {"id": str(part), "atomicityGroup": "g", "method": "POST", "url": "/tables/t",
             "headers": {"content-type": "application/json", "repeatability-request-id": str(uuid.uuid4()),
                         "repeatability-first-sent": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())},
             "body": {"id": id, "n": turn}}
            for part, id in enumerate(ids)]
        # The same requests with the same ids, through whichever process answers, until one says what became of them.
        for attempt in range(200):
            status, _, answer = call(processes[(number + attempt) % PROCESSES], "POST", "/$batch", {"requests": requests})
            parts = (answer or {}).get("responses", [])
            if status == 200 and len(parts) == len(ids) and all(part["status"] == 201 for part in parts):
                with lock:
                    for id, part in zip(ids, parts):
                        acknowledged[id] = part["body"].get("version")
                break
            if any(part["status"] == 409 for part in parts):
                print("a repeat was carried out twice", parts[:2], file=sys.stderr)
                os._exit(1)
            with lock:
                refused += 1
            time.sleep(0.05)
        else:
            print("no answer for a write", status, parts[:2], file=sys.stderr)
            os._exit(1)


def read(by_token, seen):
    token, position, turn, quiet = "", "", 0, 0
    while quiet < 3:
        ends = done.is_set()
        turn += 1
        process = processes[turn % PROCESSES]
        if by_token:
            path = "/tables/t" + (f"?$deltatoken={token}" if token else "")
            status, headers, rows = call(process, "GET", path, headers={"Prefer": "odata.track-changes"})
        else:
            # As clients of the toolkit do: the last time once more, since the wire shows milliseconds.
            condition = f"?$orderby=updatedAt&$top=500&__systemproperties=*"
            if position:
                condition += "&$filter=" + urllib.parse.quote(f"updatedAt ge cast({position},Edm.DateTimeOffset)")
            status, headers, rows = call(process, "GET", "/tables/t" + condition)
        if status != 200:
            if status not in (0, 503):
                print("a reader was answered", status, file=sys.stderr)
                os._exit(1)
            time.sleep(0.05)
            continue
        rows = rows["items"] if isinstance(rows, dict) else rows
        new = [row["id"] for row in rows if row["id"] not in seen]
        seen.update(new)
        if by_token:
            token = {name.lower(): value for name, value in headers.items()}["x-sluice-delta-token"]
        elif rows:
            position = rows[-1]["updatedAt"]
        quiet = quiet + 1 if ends and not new else 0


def play():
    started = time.time()
    by_token, by_time = set(), set()
    readers = [threading.Thread(target=read, args=arguments) for arguments in ((True, by_token), (False, by_time))]
    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in readers + writers:
        thread.start()
    kills = 0
    while any(thread.is_alive() for thread in writers):
        time.sleep(1 if kill else 0.2)
        if kill:
            victim = random.choice(processes)
            victim.kill()
            victim.start()
            kills += 1
    seconds = time.time() - started
    done.set()
    for thread in readers:
        thread.join()
    rows = subprocess.run(
        ["psql", "-qAt", psql, "-c", f"SELECT id, version FROM {schema}.t"], check=True, capture_output=True, text=True)
    stored = dict(line.split("|") for line in rows.stdout.splitlines())
    lost = [id for id, version in acknowledged.items() if stored.get(id) != version and version is not None]
    lost += [id for id in acknowledged if id not in stored]
    missed = (len(set(acknowledged) - by_token), len(set(acknowledged) - by_time))
    print(
        f"{len(acknowledged)} writes in {seconds:.1f} s ({len(acknowledged) / seconds:.0f}/s) through {PROCESSES} processes,"
        f" {refused} requests sent again, {kills} kills: {missed[0]} missed by token, {missed[1]} by time, {len(lost)} lost,"
        f" {len(stored) - len(acknowledged)} there that nobody was told of")
    return missed == (0, 0) and not lost and len(stored) == len(acknowledged)


try:
    good = play()
finally:
    for process in processes:
        process.kill()
sys.exit(0 if good else 1)
