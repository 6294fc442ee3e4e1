"""How long a change takes from one device to another: two daemons on one server, written at 100 changes a second through
the gateway of one, and followed as server-sent events at the gateway of the other. Then what idle streams cost the server.

    live.py path/to/sluice CHANGES [STREAMS]
"""
import pathlib
import socket
import sys
import tempfile
import threading
import time

from rig import Gateway, Rig

sluice, changes = sys.argv[1], int(sys.argv[2])
streams = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
RATE = 100


def follow(path, table, seen, ready):
    """Notes when each id is first heard of."""
    gateway = Gateway(path, timeout=120)
    gateway.request("GET", f"/tables/{table}/changes", headers={"Accept": "text/event-stream"})
    answer = gateway.getresponse()
    while line := answer.fp.readline():
        now = time.monotonic()
        if line.startswith(b"event: ready"):
            ready.set()
        if line.startswith(b"data:"):
            for part in line.split(b'"'):
                if part.startswith(b"w"):
                    seen.setdefault(part.decode(), now)


def latency(folder):
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    settings = "schedule: { interval: 1h, spread: 0s, change-delay: 5ms }"
    near, far = Rig(sluice, folder / "a", ["notes"]), None
    try:
        text = near.config.read_text()
        start = text.index("schedule:")
        text = text[:start] + settings + text[text.index("\n", start):]
        near.config.write_text(text)
        far = Rig.__new__(Rig)
        far.sluice, far.folder, far.tables, far.server, far.daemon = sluice, folder / "b", ["notes"], None, None
        far.port, far.log, far.config = near.port, open(folder / "b" / "log", "ab"), folder / "b" / "daemon.yaml"
        far.config.write_text(text)
        near.start_daemon()
        far.start_daemon()
        time.sleep(2)
        seen, ready = {}, threading.Event()
        threading.Thread(target=follow, args=(folder / "b" / "gateway.sock", "notes", seen, ready), daemon=True).start()
        if not ready.wait(10):
            raise AssertionError("the stream of the gateway does not begin")
        written, begin = {}, time.monotonic()
        for number in range(changes):
            wait = begin + number / RATE - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            status, _ = near.ask("POST", "/tables/notes", {"id": f"w{number}", "value": number})
            if status not in (200, 201):
                raise AssertionError(f"a write answers {status}")
            written[f"w{number}"] = time.monotonic()
        took = time.monotonic() - begin
        end = time.monotonic() + 60
        while len(seen) < changes and time.monotonic() < end:
            time.sleep(0.05)
        times = sorted(max(0, seen[id] - at) * 1000 for id, at in written.items() if id in seen)
        print(f"live: {len(times)} of {changes} changes at {changes / took:.0f} a second, "
              f"median {times[len(times) // 2]:.1f} ms, p99 {times[int(len(times) * .99)]:.1f} ms, "
              f"longest {times[-1]:.1f} ms", flush=True)
        if len(times) < changes:
            raise AssertionError("changes never arrived")
    finally:
        if far:
            far.end()
        near.end()


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))


def idle(folder):
    folder.mkdir()
    rig, connections = Rig(sluice, folder, ["notes"]), []
    try:
        before = memory(rig.server)
        for number in range(streams):
            # More than 28,000 connections from one address to one port there cannot be.
            connection = socket.create_connection(("127.0.0.1", rig.port), timeout=30)
            connection.sendall(b"GET /tables/notes/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                               b"ZUMO-API-VERSION: 2.0.0\r\n\r\n")
            connections.append(connection)
        answered = 0
        for connection in connections:
            connection.settimeout(60)
            answered += connection.recv(12).startswith(b"HTTP/1.1 200")
        time.sleep(2)
        after = memory(rig.server)
        print(f"live: {answered} idle streams, {(after - before) / max(1, answered):.1f} KiB each "
              f"({before // 1024} to {after // 1024} MiB)", flush=True)
        if answered < streams:
            raise AssertionError(f"{streams - answered} streams were not answered")
    finally:
        for connection in connections:
            connection.close()
        rig.end()


with tempfile.TemporaryDirectory() as folder:
    if changes:
        latency(pathlib.Path(folder))
    if streams:
        idle(pathlib.Path(folder) / "idle")
