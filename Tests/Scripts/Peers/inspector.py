"""The daemon's inspector in a real browser: every view is opened, a stuck change retried, one edited, a conflict merged
and a changed plugin tried, by clicks and keys.

    inspector.py path/to/sluice path/to/chromium folder/for/screenshots
"""
import gzip
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
import urllib.error
import urllib.request

from chromium import Chromium

SLUICE, BROWSER, PICTURES = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])

KEEPER = """
local function on_conflict(c, ctx)
  return c:merge({ qty = "max", title = "ask", default = "server" })
end
return { on_conflict = on_conflict }
"""
WATCHER = """
local function on_conflict(c, ctx)
  return c:merge({ qty = "max", title = "server" })
end
return { on_conflict = on_conflict }
"""


class Door(http.server.BaseHTTPRequestHandler):
    """Stands before the server and refuses what has the word forbidden in it, as long as it is closed."""
    protocol_version = "HTTP/1.1"
    port, is_closed = 0, True

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_packed = self.headers.get("Content-Encoding") == "gzip"
        if Door.is_closed and b"forbidden" in (gzip.decompress(body) if is_packed else body):
            return self.give(400, {"Content-Type": "application/json"}, b'{"error": "the title is not allowed"}')
        if self.path.split("?")[0].endswith("/changes"):
            return self.give(404, {}, b"")
        server = http.client.HTTPConnection("127.0.0.1", Door.port, timeout=30)
        server.request(self.command, self.path, body, dict(self.headers))
        answer = server.getresponse()
        fields = {k: v for k, v in answer.getheaders() if k.lower() not in ("transfer-encoding", "content-length")}
        self.give(answer.status, fields, answer.read())
        server.close()

    def give(self, status, fields, body):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = pass_on

    def log_message(self, *arguments):
        pass


def sluice(*arguments, check=True):
    return subprocess.run([SLUICE, *arguments], capture_output=True, text=True, check=check).stdout


def refused(address, **fields):
    """The status of a request that is to be refused."""
    request = urllib.request.Request(address, headers=fields)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def main(folder):
    (folder / "backend.yaml").write_text(f"database: sqlite:{folder}/server.db\ntables: {{ notes: {{ softDelete: true }} }}\n")
    server = subprocess.Popen([SLUICE, "serve", "--config", str(folder / "backend.yaml")], stdout=subprocess.PIPE, text=True)
    started.append(server)
    direct = re.match(r"listening on (http://\S+)", server.stdout.readline()).group(1)
    Door.port = int(direct.rsplit(":", 1)[1])
    door = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    for name, script in (("keeper", KEEPER), ("watcher", WATCHER)):
        sluice("plugin", "new", str(folder / name), "--kind", "conflict")
        (folder / name / "main.lua").write_text(script)
        for file in (folder / name / "tests").iterdir():
            file.unlink()
    (folder / "plugins.yaml").write_text(
        "plugins:\n  keeper: { path: keeper }\n  watcher: { path: watcher, mode: shadow }\n")
    config = folder / "daemon.yaml"
    config.write_text(f"""
endpoint: http://127.0.0.1:{door.server_address[1]}
store: local.db
tables: {{ notes: {{ columns: {{ title: string, qty: integer, text: string }} }} }}
plugins: plugins.yaml
schedule: {{ interval: 1h, spread: 0s, change-delay: 10ms, first-pause: 0s }}
inspector: {{ port: 0 }}
""")
    daemon = subprocess.Popen(
        [SLUICE, "daemon", "--config", str(config)], stdout=subprocess.DEVNULL, stderr=open(folder / "log", "w"), text=True)
    started.append(daemon)
    address = None
    while not address:
        assert daemon.poll() is None, (folder / "log").read_text()
        said = subprocess.run([SLUICE, "inspector", "--config", str(config)], capture_output=True, text=True).stdout
        address = re.search(r"http://\S+", said)
    address = address.group(0)
    local, other = ["--config", str(config)], ["--store", str(folder / "other.db"), "--endpoint", direct]

    # A conflict: both change qty and title of the same row.
    large = 9007199254740993
    sluice("insert", "notes", json.dumps({"id": "n1", "title": "Milk", "qty": 1, "text": "from the shop", "big": large}), *local)
    sluice("insert", "notes", '{"id":"n2","title":"Bread","qty":2}', *local)
    sluice("ctl", "sync", *local)
    sluice("pull", "notes", *other)
    sluice("ctl", "pause", *local)
    sluice("update", "notes", "n1", '{"title":"Oat milk","qty":5}', *local)
    sluice("insert", "notes", '{"id":"n3","title":"forbidden fruit"}', *local)
    sluice("update", "notes", "n1", '{"title":"Milk, fresh","qty":3}', *other)
    sluice("push", *other)
    sluice("ctl", "resume", *local)
    for _ in range(100):
        queue = json.loads(sluice("queue", "list", "--json", *local))
        states = [one["state"] for one in queue.get("operations", queue if isinstance(queue, list) else [])]
        if sorted(states) in (["parked", "parked"], ["dead", "parked"]):
            break
        time.sleep(0.2)
    else:
        raise AssertionError(f"no conflict and no refusal: {queue}")

    # Nobody without the address comes in, and it opens once.
    base = address.split("?")[0]
    assert refused(base) == 401 and refused(base + "api/status") == 401
    assert refused(base, Host="evil.example") == 421
    assert refused(base, Origin="http://evil.example") == 403
    port = base.split(":")[2].split("/")[0]
    assert refused(base, Host=f"localhost:{port}", Origin=f"http://127.0.0.1:{Door.port}") == 403

    page = Chromium(BROWSER)
    browsers.append(page)
    page.look(1100, 800, "light")
    page.open(address)
    page.until("document.querySelector('main').dataset.view === 'status'", "the status")
    assert refused(address) == 401, "the address opens once"
    assert page.run("document.cookie") == "", "no script sees the cookie"
    assert "token" not in page.run("location.href")
    page.until("document.body.innerText.includes('2 held') || document.body.innerText.includes('1 held, 1 given up')",
               "what is held")
    page.picture(PICTURES / "status.png")

    # Each view by its key.
    views = ["status", "tables", "queue", "conflicts", "plugins", "timeline", "storage", "policy"]
    for number, view in enumerate(views, 1):
        page.key(str(number))
        page.until(f"document.querySelector('main').dataset.view === '{view}'", view)
        page.until("document.querySelector('main h2')", "a heading")
    page.key("7")
    page.until("document.querySelector('svg.chart polyline')", "a chart")
    page.picture(PICTURES / "storage.png")
    page.key("6")
    page.until("document.body.innerText.includes('/tables/notes')", "an exchange")
    timeline = page.run("document.querySelector('main').innerText")
    assert "Oat milk" not in timeline and "forbidden" not in timeline, "the timeline is redacted"
    page.picture(PICTURES / "timeline.png")

    # A row with its copies side by side.
    page.click("nav a", "Tables")
    page.click("main a", "notes")
    page.click("main a", "n1")
    page.until("document.querySelector('tr[data-changed=both]')", "a field that both changed")
    cells = page.run("[...document.querySelectorAll('tr[data-changed=both]')].map((row) => row.innerText)")
    assert any("Oat milk" in row and "Milk, fresh" in row for row in cells), cells
    assert str(large) in page.run("document.querySelector('main').innerText"), "a large number as it is"
    page.picture(PICTURES / "row.png")

    # The stuck change: retried in vain, edited, and then it goes through.
    page.key("3")
    stuck = "[...document.querySelectorAll('tr[data-operation]')].find((row) => row.innerText.includes('notes/n3'))"
    page.until(f"{stuck}.innerText.includes('not allowed')", "the reason")
    page.picture(PICTURES / "queue.png")
    key = page.run(f"{stuck}.dataset.operation")
    page.click(f'[data-key="edit {key}"]')
    page.until("document.querySelector('dialog[open] textarea')", "the editor")
    text = page.run("document.querySelector('dialog textarea').value")
    assert "forbidden fruit" in text
    page.click("dialog button", "Close")
    Door.is_closed = False
    page.click(f'[data-key="retry {key}"]')
    page.until(f"!({stuck})", "the change is gone from the queue")
    assert "forbidden fruit" in sluice("get", "notes", "n3", "--json", *local)
    sluice("pull", "notes", *other)
    assert "forbidden fruit" in sluice("get", "notes", "n3", "--json", *other), "the server has it"

    # The conflict: what plugins would decide, and a merge of one side's title and a quantity of its own.
    page.key("4")
    page.until("document.querySelector('[data-preview=watcher]')", "what a plugin would decide")
    said = page.run("document.querySelector('main').innerText")
    assert "keeper would decide ask" in said, said
    assert "qty by max (client)" in said and "title by server (server)" in said, said
    page.click('input[data-field="title"][data-side="local"]')
    page.click('input[data-field="qty"][data-side="text"]')
    box = 'input[aria-label^="qty:"]'
    page.run(f"document.querySelector('{box}').select()")
    page.run(f"document.querySelector('{box}').focus()")
    page.type("7")
    page.picture(PICTURES / "conflict.png")
    page.look(390, 800, "dark")
    page.picture(PICTURES / "conflict-phone-dark.png")
    assert page.run("document.documentElement.scrollWidth <= innerWidth"), "phone width"
    page.look(1100, 800, "light")
    page.click("button", "Merge as chosen")
    page.until("document.body.innerText.includes('No conflict is held')", "no conflict")
    for _ in range(100):
        sluice("pull", "notes", *other)
        merged = json.loads(sluice("get", "notes", "n1", "--json", *other))
        if merged.get("qty") == 7:
            break
        time.sleep(0.2)
    assert (merged["title"], merged["qty"], merged["big"]) == ("Oat milk", 7, large), merged

    # A changed script is tried on what was decided, and nothing of it serves.
    page.key("5")
    page.until("document.querySelector('[data-plugin=keeper]')", "the plugin")
    page.click('[data-key="try keeper"]')
    page.until("document.querySelector('textarea')?.value.includes('ask')", "its script")
    page.run("document.querySelector('textarea').focus(); document.querySelector('textarea').select()")
    page.type(KEEPER.replace('"ask"', '"client"'))
    page.click("button", "Try it")
    page.until("document.querySelector('[data-outcome]')", "an outcome")
    said = page.run("document.querySelector('[data-plugin=keeper]').innerText")
    assert "1 come out otherwise" in said or "ask" in said and "merge" in said, said
    page.picture(PICTURES / "plugin-try.png")
    page.run("document.querySelector('textarea').select()")
    page.type("return {")
    page.click("button", "Try it")
    page.until("document.querySelector('[data-outcome=bad]')", "a refusal")
    assert '"ask"' in (folder / "keeper" / "main.lua").read_text()

    # By keys alone: to the queue, and a change undone.
    sluice("ctl", "pause", *local)
    sluice("update", "notes", "n2", '{"title":"Rye"}', *local)
    page.run("document.activeElement.blur()")
    page.key("3")
    page.until("document.body.innerText.includes('notes/n2')", "the change")
    page.until("(() => { const b = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Undo record');"
               " return Boolean(b); })()", "undo")
    for _ in range(20):
        page.key("j")
        if page.run("document.activeElement.textContent") == "Undo record":
            break
    page.key("Enter")
    page.until("document.body.innerText.includes('Nothing waits')", "an empty queue")
    assert json.loads(sluice("get", "notes", "n2", "--json", *local))["title"] == "Bread"
    page.look(390, 800, "dark")
    for number, view in enumerate(views, 1):
        page.key(str(number))
        page.until(f"document.querySelector('main').dataset.view === '{view}'", view)
        time.sleep(0.3)
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), f"{view} at phone width"
        page.picture(PICTURES / f"{view}-phone-dark.png")
    assert not page.refused, page.refused
    # With another address of the command, and without the daemon's own.
    again = sluice("inspector", *local).strip()
    assert again.startswith(base) and again != address


started, browsers = [], []
PICTURES.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory() as folder:
    try:
        main(pathlib.Path(folder))
        print("inspector.py: passed", flush=True)
    except BaseException:
        log = pathlib.Path(folder) / "log"
        print(log.read_text()[-3000:] if log.exists() else "", file=sys.stderr)
        if browsers:
            browsers[0].picture(PICTURES / "failed.png")
        raise
    finally:
        for browser in browsers:
            browser.close()
        for process in started:
            process.terminate()
        for process in started:
            process.wait(timeout=30)
