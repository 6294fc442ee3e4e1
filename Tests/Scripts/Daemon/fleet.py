"""Twenty daemons follow one file: a good release, one whose on_conflict fails for one record in fifty, and a better one.

    fleet.py path/to/sluice DEVICES

Each device writes through its gateway what the server has just changed, so that the release decides conflicts at a known
rate. Printed is when each release serves, how long after its bound a bad one is off, what the fleet's table says, and how
often the web server was asked. In the end every device has each of its rows as the server has it.
"""
import collections
import datetime
import http.client
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from rig import Rig

sluice, count = sys.argv[1], int(sys.argv[2])
PERIOD, LEAST, SHARE, ROWS = 5, 20, 0.01, 50
MANIFEST = {
    "name": "rules", "version": "1.0.0", "api": "1.0", "description": "Decides conflicts about notes.",
    "hooks": {"on_conflict": {"match": {"tables": ["notes"]}}}}
GOOD = """
local function on_conflict(c) return decide.client() end
return { on_conflict = on_conflict }
"""
BAD = """
local function on_conflict(c)
  if c.client:get("text") == "fiftieth" then error("no rule for it") end
  return decide.client()
end
return { on_conflict = on_conflict }
"""


class Web(http.server.SimpleHTTPRequestHandler):
    """A static server with conditional requests by time, which counts what each device asks."""
    asked = collections.Counter()

    def do_GET(self):
        Web.asked[bool(self.headers.get("If-Modified-Since") or self.headers.get("If-None-Match"))] += 1
        super().do_GET()

    def log_message(self, *_):
        pass


def run(*words):
    out = subprocess.run([sluice, *words], capture_output=True, text=True)
    if out.returncode:
        raise AssertionError(f"{words} ends with {out.returncode}: {out.stdout}{out.stderr}")
    return out.stdout


class Fleet:
    def __init__(self, folder):
        self.folder = folder
        for name in ["shops/rules", "www"]:
            (folder / name).mkdir(parents=True)
        (folder / "shops/policy.yaml").write_text("plugins: { rules: { path: rules } }\n")
        (folder / "shops/rules/plugin.json").write_text(json.dumps(MANIFEST))
        run("policy", "keygen", str(folder / "shops"))
        handler = lambda *words: Web(*words, directory=folder / "www")
        self.web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.web.serve_forever, daemon=True).start()
        self.devices = []
        for number in range(count):
            (folder / f"d{number}").mkdir()
            self.devices.append(self.device(number))

    def device(self, number):
        folder = self.folder / f"d{number}"
        settings = (
            f"policy: {{ url: 'http://127.0.0.1:{self.web.server_port}/policy.json', keys: [{self.folder}/shops.key], "
            f"device: d{number}, every: {PERIOD}s, trial: 0s, least-calls: {LEAST}, most-errors: {SHARE:.0%}, "
            "status-table: policy_status, status-every: 5s }\n")
        if not self.devices:
            rig = Rig(sluice, folder, ["notes", "policy_status"], settings)
        else:
            rig = Rig(sluice, folder, ["notes", "policy_status"], settings, port=self.devices[0].port)
        rig.start_daemon()
        return rig

    def publish(self, version, script):
        (self.folder / "shops/rules/main.lua").write_text(script)
        run("policy", "publish", str(self.folder / "shops"), "--key", str(self.folder / "shops.signer"),
            "--release-version", str(version), "--output", str(self.folder / "www/policy.json"))
        return time.monotonic()

    def state(self, number):
        """What the device has saved about its releases."""
        try:
            return json.loads((self.folder / f"d{number}/local.db.policy/state.json").read_text())
        except (OSError, ValueError):
            return {}

    def await_serving(self, version, since, within):
        """The seconds after which each device has served the version."""
        took = {}
        while len(took) < count:
            for number in set(range(count)) - set(took):
                if self.state(number).get("serving") == version:
                    took[number] = time.monotonic() - since
            if time.monotonic() - since > within:
                raise AssertionError(f"version {version} serves on {len(took)} of {count} devices after {within} s")
            time.sleep(0.1)
        return sorted(took.values())

    def patch_server(self, id, value):
        server = http.client.HTTPConnection("127.0.0.1", self.devices[0].port, timeout=30)
        server.request("PATCH", f"/tables/notes/{id}", json.dumps({"value": value}),
                       {"ZUMO-API-VERSION": "2.0.0", "Content-Type": "application/json"})
        status = server.getresponse().status
        server.close()
        return status

    def conflict(self, number, turn):
        """Changes a row at the server and on the device, whose push then meets a conflict."""
        id = f"d{number}-{turn % ROWS}"
        if self.patch_server(id, turn) != 200:
            raise AssertionError(f"the server does not change {id}")
        status, answer = self.devices[number].ask("PATCH", f"/tables/notes/{id}", {"value": turn + 1_000_000})
        # 412: its conflict is held since an earlier turn.
        if status not in (200, 412):
            raise AssertionError(f"the device does not change {id}: {status} {answer}")

    def end(self):
        for rig in reversed(self.devices):
            rig.end()
        self.web.shutdown()


def fail(fleet):
    """Lets every device meet conflicts until the bad release is off: each device's seconds from its first failed call, which
    passes the bound, to the return."""
    failed = []

    def work(number):
        turn = 0
        while "2" not in fleet.state(number).get("withdrawn", {}):
            fleet.conflict(number, turn)
            turn += 1
            if turn > 20 * ROWS:
                break
            time.sleep(0.2)
        # The state is saved before the line is written.
        for _ in range(50):
            log = (fleet.folder / f"d{number}/log").read_text()
            times = [
                re.search(rf"^(\S+) {what}", log, re.M)
                for what in ["info sluice: operation kept .*hookFailed", "warning sluice: policy 2 withdrawn"]]
            if all(times):
                break
            time.sleep(0.1)
        if not all(times):
            raise AssertionError(f"d{number} does not go back: {fleet.state(number)}")
        begin, end = (datetime.datetime.fromisoformat(found.group(1)[:26]) for found in times)
        failed.append((end - begin).total_seconds())

    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if len(failed) < count:
        raise AssertionError(f"only {len(failed)} of {count} devices went back")
    return sorted(failed)


def shown(times):
    return f"median {times[len(times) // 2]:.1f} s, longest {times[-1]:.1f} s"


def play(fleet):
    for number in range(count):
        for row in range(ROWS):
            text = "fiftieth" if row == ROWS - 1 else "note"
            status, answer = fleet.devices[number].ask(
                "POST", "/tables/notes", {"id": f"d{number}-{row}", "value": 0, "text": text})
            if status not in (200, 201):
                raise AssertionError(f"an insert answers {status}: {answer}")
    for rig in fleet.devices:
        rig.settle()
    good = fleet.await_serving(1, fleet.publish(1, GOOD), 4 * PERIOD + 20)
    print(f"fleet: version 1 serves on {count} devices: {shown(good)} after it was published", flush=True)
    bad = fleet.await_serving(2, fleet.publish(2, BAD), 4 * PERIOD + 20)
    print(f"fleet: version 2 serves: {shown(bad)}", flush=True)
    off = fail(fleet)
    print(f"fleet: version 2 is off on {count} devices: {shown(off)} after the call that passed its bound", flush=True)
    if off[-1] > 60:
        raise AssertionError("a device needed more than a minute")
    better = fleet.await_serving(3, fleet.publish(3, GOOD), 4 * PERIOD + 20)
    print(f"fleet: version 3 serves: {shown(better)}", flush=True)
    before, begin = sum(Web.asked.values()), time.monotonic()
    time.sleep(4 * PERIOD)
    periods = (time.monotonic() - begin) / PERIOD
    print(f"fleet: {(sum(Web.asked.values()) - before) / count / periods:.2f} requests a device and period, "
          f"{Web.asked[True]} of {sum(Web.asked.values())} conditional", flush=True)
    held = 0
    for rig in fleet.devices:
        held += rig.status()["endpoints"][0]["queue"]["parked"]
        run("queue", "retry", "--all", "--config", str(rig.config))
        rig.settle()
    print(f"fleet: {held} changes were held by the bad release, and went after `queue retry --all`", flush=True)
    server = fleet.devices[0].rows("notes", True)
    for number, rig in enumerate(fleet.devices):
        own = rig.rows("notes", False)
        for row in range(ROWS):
            id = f"d{number}-{row}"
            if own[id]["value"] != server[id]["value"] or own[id]["text"] != server[id]["text"]:
                raise AssertionError(f"{id} is {own[id]} on the device and {server[id]} on the server")
            if 0 < server[id]["value"] < 1_000_000:
                raise AssertionError(f"the device's change of {id} is lost: {server[id]}")
    print(f"fleet: {count * ROWS} rows are the same on device and server", flush=True)
    print(run("policy", "fleet", "--endpoint", f"http://127.0.0.1:{fleet.devices[0].port}").strip())


with tempfile.TemporaryDirectory() as folder:
    fleet = Fleet(pathlib.Path(folder))
    try:
        play(fleet)
    finally:
        fleet.end()
