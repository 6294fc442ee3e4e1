"""A server, a daemon with a gateway before it, and what was written through the gateway: for the kill loop and the soak."""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time


class Gateway(http.client.HTTPConnection):
    """A connection over a Unix socket."""

    def __init__(self, path, timeout=20):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def figures(process):
    """Resident memory without files, in KiB, and the number of open descriptors."""
    with open(f"/proc/{process.pid}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    return memory, len(os.listdir(f"/proc/{process.pid}/fd"))


def slope(samples):
    """KiB an hour, by least squares over times in seconds and KiB."""
    n = len(samples)
    times, values = [s[0] for s in samples], [s[1] for s in samples]
    mean_time, mean = sum(times) / n, sum(values) / n
    spread = sum((t - mean_time) ** 2 for t in times)
    return 0 if spread == 0 else 3600 * sum((t - mean_time) * (v - mean) for t, v in zip(times, values)) / spread


class Rig:
    """A daemon, and a server of its own, or the one on that port, which another has started."""

    def __init__(self, sluice, folder, tables, settings="", database=None, port=None):
        self.sluice, self.folder, self.tables = sluice, pathlib.Path(folder), tables
        self.port, self.server, self.daemon, self.log = port or 0, None, None, open(self.folder / "log", "ab")
        if port is None:
            names = ", ".join(f"{name}: {{ softDelete: true }}" for name in tables)
            (self.folder / "backend.yaml").write_text(
                f"database: {database or f'sqlite:{self.folder}/server.db'}\ntables: {{ {names} }}\n")
            self.start_server()
        columns = ", ".join(f"{name}: {{ columns: {{ value: integer, text: string }} }}" for name in tables)
        self.config = self.folder / "daemon.yaml"
        self.config.write_text(f"""
endpoint: http://127.0.0.1:{self.port}
store: local.db
tables: {{ {columns} }}
schedule: {{ interval: 2s, spread: 0s, change-delay: 20ms, first-pause: 100ms, longest-pause: 500ms }}
retry: {{ attempts: 2, first-pause: 50ms, longest-pause: 200ms }}
limits: {{ attempts: 1000000 }}
gateway: {{ socket: gateway.sock }}
shutdown-time: 2s
{settings}
""")

    def start_server(self):
        self.server = subprocess.Popen(
            [self.sluice, "serve", "--config", str(self.folder / "backend.yaml"), "--port", str(self.port)],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.server.stdout.readline()
        found = re.match(r"listening on http://\S+:(\d+)", line)
        if not found:
            raise AssertionError(f"the server does not start: {line}")
        self.port = int(found.group(1))

    def start_daemon(self):
        self.daemon = subprocess.Popen(
            [self.sluice, "daemon", "--config", str(self.config)], stdout=self.log, stderr=self.log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.daemon.poll() is not None:
                raise AssertionError(f"the daemon ended by itself with {self.daemon.returncode}: {self.tail()}")
            try:
                if self.ask("GET", f"/tables/{self.tables[0]}?$top=1")[0] == 200:
                    return
            except OSError:
                time.sleep(0.01)
        raise AssertionError("the daemon does not answer: " + self.tail())

    def tail(self):
        return (self.folder / "log").read_bytes()[-3000:].decode(errors="replace")

    def ask(self, method, path, body=None, timeout=20):
        """The status and the answer of one request to the gateway; OSError where it does not come."""
        gateway = Gateway(self.folder / "gateway.sock", timeout)
        try:
            fields = {"ZUMO-API-VERSION": "2.0.0", "Content-Type": "application/json"}
            gateway.request(method, path, None if body is None else json.dumps(body), fields)
            answer = gateway.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            gateway.close()

    def rows(self, table, of_server):
        """All live rows by their ids, of the store through the gateway or of the server."""
        found, skip = {}, 0
        while True:
            path = f"/tables/{table}?$orderby=id&$top=500&$skip={skip}"
            if of_server:
                server = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                server.request("GET", path, headers={"ZUMO-API-VERSION": "2.0.0"})
                answer = server.getresponse()
                status, page = answer.status, json.loads(answer.read())
                server.close()
            else:
                status, page = self.ask("GET", path)
            if status != 200:
                raise AssertionError(f"{path} answers {status}: {page}")
            for row in page:
                if row["id"] in found:
                    raise AssertionError(f"{table}/{row['id']} is there twice")
                found[row["id"]] = row
            # A page may be shorter than was asked for.
            if not page:
                return found
            skip += len(page)

    def status(self):
        out = subprocess.run(
            [self.sluice, "ctl", "status", "--json", "--config", str(self.config)], capture_output=True, text=True)
        return json.loads(out.stdout) if out.returncode == 0 else {}

    def settle(self, seconds=120):
        """Waits until nothing waits and a run after that has ended well."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            out = subprocess.run(
                [self.sluice, "ctl", "sync", "--json", "--config", str(self.config)], capture_output=True, text=True)
            queue = (self.status().get("endpoints") or [{}])[0].get("queue") or {}
            if out.returncode == 0 and queue and not any(
                    queue[name] for name in ("pending", "inFlight", "parked", "dead")):
                runs = json.loads(out.stdout).get("runs", [])
                if all(not run.get("error") for run in runs):
                    return
            time.sleep(0.2)
        raise AssertionError(f"it does not settle: {self.status()} {self.tail()}")

    def end(self):
        for process in (self.daemon, self.server):
            if process and process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.terminate()
        for process in (self.daemon, self.server):
            if process:
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.log.close()


class Model:
    """What was written, as far as it was acknowledged: each row's value, and values whose writes were not answered."""

    def __init__(self):
        self.known, self.doubt, self.acknowledged = {}, {}, 0

    def write(self, rig, random, table):
        """One write through the gateway; False where it was not answered."""
        own = [key for key in self.known if key[0] == table and self.known[key] is not None]
        kind = random.choice(["insert", "update", "update", "delete"]) if own else "insert"
        key = (table, f"r{random.getrandbits(64):x}") if kind == "insert" else random.choice(own)
        value = None if kind == "delete" else random.getrandbits(40)
        self.doubt.setdefault(key, []).append(value)
        body = {"value": value, "text": "x" * random.randrange(200)}
        try:
            if kind == "insert":
                status, _ = rig.ask("POST", f"/tables/{table}", {"id": key[1], **body})
            elif kind == "update":
                status, _ = rig.ask("PATCH", f"/tables/{table}/{key[1]}", body)
            else:
                status, _ = rig.ask("DELETE", f"/tables/{table}/{key[1]}")
        except OSError:
            self.known.setdefault(key, None)
            return False
        if status not in (200, 201, 204):
            # A write of before whose answer was lost may have deleted the row.
            if status in (404, 410) and None in self.doubt[key]:
                self.known[key], self.doubt[key] = None, []
                return True
            raise AssertionError(f"{kind} of {key} answers {status}; {self.doubt[key]}")
        self.known[key], self.doubt[key] = value, []
        self.acknowledged += 1
        return True

    def check(self, rows, where):
        """The rows are what was acknowledged last, or what was not answered after that."""
        for (table, id), value in self.known.items():
            row = rows[table].get(id)
            found = None if row is None else row["value"]
            if found != value and found not in self.doubt.get((table, id), []):
                raise AssertionError(f"{where}: {table}/{id} is {found}; written was {value}, unanswered "
                                     f"{self.doubt.get((table, id))}")
        for table, found in rows.items():
            for id in found:
                if (table, id) not in self.known:
                    raise AssertionError(f"{where}: {table}/{id} was never written")

    def settle(self, rows):
        """Takes what is there for what is known, once both sides agree."""
        for key in self.known:
            row = rows[key[0]].get(key[1])
            self.known[key] = None if row is None else row["value"]
        self.doubt = {}
