"""A server with idle and active connections at once: 10,000 streams of changes on which nothing happens, and 200 connections
that write as fast as they are answered. Each write that was acknowledged is looked for afterwards, and the server's memory
is told.

    load.py path/to/sluice WRITES [IDLE]
"""
import asyncio
import json
import pathlib
import re
import sys
import tempfile
import time

from rig import Rig

sluice, writes = sys.argv[1], int(sys.argv[2])
idle = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
ACTIVE = 200


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) / 1024


async def answer(reader):
    """The status of the next answer; its body is read and left."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = re.search(r"(?i)content-length: *(\d+)", head)
    if length:
        await reader.readexactly(int(length.group(1)))
    return int(head.split()[1])


async def stream(port):
    """A stream of changes that has begun."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /tables/quiet/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise AssertionError(f"a stream is refused: {head[:40]}")
    return reader, writer


async def write(port, number, count, acknowledged, times):
    """Inserts one row after the other over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for row in range(count):
        body = json.dumps({"id": f"w{number}-{row}", "value": row}).encode()
        begin = time.monotonic()
        writer.write(b"POST /tables/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"ZUMO-API-VERSION: 2.0.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        status = await answer(reader)
        if status != 201:
            raise AssertionError(f"a write answers {status}")
        acknowledged[f"w{number}-{row}"] = row
        times.append(time.monotonic() - begin)
    writer.close()


async def main(rig):
    before = memory(rig.server)
    streams = []
    for begin in range(0, idle, 500):
        streams += await asyncio.gather(*(stream(rig.port) for _ in range(begin, min(begin + 500, idle))))
    quiet = memory(rig.server)
    acknowledged, times, most = {}, [], quiet
    begin = time.monotonic()
    writers = [asyncio.ensure_future(write(rig.port, number, writes // ACTIVE, acknowledged, times))
               for number in range(ACTIVE)]
    while not all(task.done() for task in writers):
        most = max(most, memory(rig.server))
        await asyncio.sleep(0.2)
    await asyncio.gather(*writers)
    took = time.monotonic() - begin
    after = memory(rig.server)
    held = sum(not reader.at_eof() for reader, _ in streams)
    found = await asyncio.get_running_loop().run_in_executor(None, rig.rows, "notes", True)
    lost = [id for id, value in acknowledged.items() if found.get(id, {}).get("value") != value]
    times.sort()
    print(f"load: {held} of {idle} idle connections held, {ACTIVE} active wrote {len(acknowledged)} rows at "
          f"{len(acknowledged) / took:.0f} a second (median {times[len(times) // 2] * 1000:.0f} ms, "
          f"p99 {times[int(len(times) * .99)] * 1000:.0f} ms), {len(lost)} lost; memory {before:.0f} MiB at the "
          f"begin, {quiet:.0f} with the idle ones, {most:.0f} at most, {after:.0f} at the end", flush=True)
    if lost or held < idle or len(acknowledged) < writes // ACTIVE * ACTIVE:
        raise AssertionError(f"{len(lost)} lost, {idle - held} cut")
    for _, writer in streams:
        writer.close()


with tempfile.TemporaryDirectory() as folder:
    rig = Rig(sluice, pathlib.Path(folder), ["notes", "quiet"])
    try:
        asyncio.run(main(rig))
    finally:
        rig.end()
