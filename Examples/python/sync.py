"""Two devices, one server, no network for a while: what docs/c.md explains, in Python.

    pip install Sources/Bindings/SluicePython
    python3 Examples/python/sync.py http://127.0.0.1:8080
"""

import asyncio
import sys

import sluice


def merge(conflict: sluice.Conflict):
    """Both devices changed one movie: the title is ours, everything else the server's."""
    if conflict.client is None or conflict.server is None:
        return sluice.Decision.ASK
    print("a conflict about %s, merged" % conflict.client["title"])
    return {**conflict.server, "title": conflict.client["title"]}


def sync(name: str, device: sluice.Context) -> None:
    sent = device.push()
    brought = device.table("movies").pull(named="all")
    print("%s: %d sent, %d stored" % (name, sent.applied, brought.stored))


async def watch(device: sluice.Context, seen: list) -> None:
    """Notes which movies change on a device, while other tasks go on."""
    async for commit in device.changes():
        seen.extend((change.kind, change.record) for change in commit.changes)


async def main(endpoint: str) -> bool:
    with sluice.Context("anna.db", endpoint, on_conflict=merge) as anna, \
            sluice.Context("ben.db", endpoint, on_conflict=merge) as ben:
        # A call blocks its thread, so a coroutine has another thread make it.
        await asyncio.to_thread(sync, "anna", anna)
        await asyncio.to_thread(sync, "ben", ben)
        seen: list = []
        watcher = asyncio.create_task(watch(ben, seen))
        await asyncio.sleep(0)

        # From here on until they sync, neither needs the network.
        movies = anna.table("movies")
        movies.update({"id": "id-009", "duration": 151})
        movies.insert({"id": "anna-1", "title": "Stalker", "year": 1979})

        def both(changes: sluice.Transaction) -> None:
            changes.update("movies", {"id": "id-009", "title": "Fight Club (uncut)"})
            changes.delete("movies", "id-018")
        ben.write(both)
        for name, device in ("anna", anna), ("ben", ben), ("anna", anna):
            await asyncio.to_thread(sync, name, device)

        await asyncio.sleep(0.1)
        watcher.cancel()
        print("ben saw: %s" % sorted(set(seen)))
        copies = [device.table("movies").query(orderby="id") for device in (anna, ben)]
        print("%d and %d movies: %s" % (
            len(copies[0]), len(copies[1]), "equal copies" if copies[0] == copies[1] else "THEY DIFFER"))
        return copies[0] == copies[1]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sync.py URL")
    sys.exit(0 if asyncio.run(main(sys.argv[1])) else 1)
