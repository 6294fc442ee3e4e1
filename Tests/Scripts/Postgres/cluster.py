"""A schema of its own on the PostgreSQL server that `.ci/postgres` has started, and `sluice serve` processes on it."""
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid


def fail(*words):
    """Ends the program at once, whatever its threads do."""
    print(*words, file=sys.stderr, flush=True)
    os._exit(1)


class Database:
    """A schema and a role of the same name whose `search_path` it is: a pooler keeps no options of a connection."""

    def __init__(self):
        server = os.environ["SLUICE_TEST_POSTGRES"]
        # Where a pooler stands between, the server itself is reached there.
        self.direct = os.environ.get("SLUICE_TEST_ADMINISTRATOR", server)
        self.name = "order_" + uuid.uuid4().hex[:8]
        self.folder = os.environ.get("SLUICE_TEST_POSTGRES_FOLDER")
        self.sql(
            f"CREATE ROLE {self.name} LOGIN; ALTER ROLE {self.name} SET search_path = {self.name}; "
            f"CREATE SCHEMA {self.name} AUTHORIZATION {self.name}", "public")
        url = server.replace("://sluice@", f"://{self.name}@")
        self.url = f"{url}?{os.environ.get('SLUICE_TEST_PARAMETERS', 'readers=2')}"

    def sql(self, text, schema=None):
        """Runs statements as the server's owner, and gives back the rows, with | between the values."""
        result = subprocess.run(
            ["psql", "-qAt", "-v", "ON_ERROR_STOP=1", self.direct, "-c", text], check=True, capture_output=True, text=True,
            env={**os.environ, "PGOPTIONS": f"-c search_path={schema or self.name}"})
        return result.stdout.splitlines()

    def kill(self):
        """Kills the server's first process: the others end by themselves, and nothing is written that was not yet."""
        with open(f"{self.folder}/data/postmaster.pid") as file:
            os.kill(int(file.readline()), signal.SIGKILL)

    def start(self):
        """Starts the server that was killed; it recovers what was committed."""
        for _ in range(120):
            if subprocess.run([f"{self.folder}/start"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return
            # Processes of the old one are still about.
            time.sleep(0.25)
        fail("the server does not start again")


class Process:
    """A process that serves, always on the same port once it has one."""

    def __init__(self, sluice, database, tables, settings=""):
        self.command = [sluice, "serve", "--config", tempfile.mkstemp(prefix="sluice-order-", suffix=".yaml")[1]]
        self.environment = {**os.environ, "SLUICE_DATABASE": database.url}
        self.port = 0
        with open(self.command[3], "w") as file:
            file.write(f"database: postgres:$SLUICE_DATABASE\n{settings}tables:\n{tables}")
        self.start()

    def start(self):
        # As whoever watches over it would: until it listens.
        for _ in range(120):
            self.process = subprocess.Popen(
                [*self.command, "--port", str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                env=self.environment)
            line = self.process.stdout.readline()
            if "listening" in line:
                self.port = int(line.rsplit(":", 1)[1])
                return
            self.process.wait()
            time.sleep(0.25)
        fail("sluice serve does not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def call(self, method, path, body=None, headers={}):
        """Status, headers and JSON of an answer; the status 0 where none came."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"ZUMO-API-VERSION": "3.0.0", "Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, {k.lower(): v for k, v in answer.headers.items()}, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}, None
        except (OSError, ValueError, http.client.HTTPException):
            return 0, {}, None

    def end(self):
        self.kill()
        os.remove(self.command[3])
