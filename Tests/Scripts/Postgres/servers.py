"""PostgreSQL servers beside the one that `.ci/postgres` has started: replicas that can be promoted, servers with TLS."""
import glob
import os
import signal
import socket
import subprocess
import time

from cluster import fail

FOLDER = os.environ["SLUICE_TEST_POSTGRES_FOLDER"]
BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4].split(".")[0]))[-1]
# PostgreSQL refuses to run as root.
AS = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"] if os.getuid() == 0 else []


def run(*command, check=True):
    """Runs a program as the user of the servers, and gives back what it prints."""
    result = subprocess.run([*AS, *command], capture_output=True, text=True, cwd=FOLDER)
    if check and result.returncode:
        fail(*command, "failed:", result.stdout, result.stderr)
    return result.stdout


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server in a folder of its own, always on the same port."""

    def __init__(self, name, options=""):
        self.name, self.port, self.options = name, free_port(), options
        self.data = f"{FOLDER}/{name}"
        self.isRunning = False

    def make(self):
        """A new, empty server."""
        run(f"{BIN}/initdb", "-D", self.data, "-U", "sluice", "--auth=trust", "--encoding=UTF8", "--locale=C")

    def copy(self, other):
        """A copy of another server, as a replica of it."""
        run("rm", "-rf", self.data)
        run(f"{BIN}/pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast",
            "-d", f"host=127.0.0.1 port={other.port} user=sluice application_name=replica")

    def start(self):
        options = (
            f"-p {self.port} -k {FOLDER} -c listen_addresses=127.0.0.1 -c max_connections=200 -c shared_buffers=64MB "
            f"-c wal_level=replica {self.options}")
        for _ in range(120):
            # The log is a file: a pipe would be held by the server.
            result = subprocess.run(
                [*AS, f"{BIN}/pg_ctl", "-D", self.data, "-w", "-t", "60", "-l", f"{self.data}.log", "-o", options, "start"],
                cwd=FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.isRunning = not result.returncode
            if self.isRunning:
                return
            # Processes of one that was killed are still about.
            time.sleep(0.25)
        fail(f"the server {self.name} does not start", open(f"{self.data}.log").read()[-2000:])

    def kill(self):
        """Kills the first process: the others end by themselves."""
        with open(f"{self.data}/postmaster.pid") as file:
            os.kill(int(file.readline()), signal.SIGKILL)
        self.isRunning = False

    def stop(self):
        if self.isRunning:
            run(f"{BIN}/pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop", check=False)
        self.isRunning = False

    def promote(self):
        run(f"{BIN}/pg_ctl", "-D", self.data, "-w", "promote")

    def sql(self, text):
        """Runs a statement, and gives back the rows, with | between the values."""
        result = subprocess.run(
            ["psql", "-qAt", "-v", "ON_ERROR_STOP=1", f"postgres://sluice@127.0.0.1:{self.port}/postgres", "-c", text],
            capture_output=True, text=True)
        if result.returncode:
            fail("psql:", text, result.stderr)
        return result.stdout.splitlines()

    def require_replica(self):
        """Lets commits wait from now on until the replica has them, and waits until it is there."""
        self.sql("ALTER SYSTEM SET synchronous_standby_names = 'replica'")
        self.sql("SELECT pg_reload_conf()")
        wait_until("the replica is in step", lambda: self.sql("SELECT sync_state FROM pg_stat_replication") == ["sync"])

    def let_go(self):
        """Lets commits wait for nobody."""
        self.sql("ALTER SYSTEM RESET synchronous_standby_names")
        self.sql("SELECT pg_reload_conf()")


def wait_until(what, isSo, seconds=120):
    deadline = time.time() + seconds
    while not isSo():
        if time.time() > deadline:
            fail("it did not come to pass:", what)
        time.sleep(0.05)
