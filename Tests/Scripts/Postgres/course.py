"""Writers with transactions of random length and readers by token and by time, on several processes of one database."""
import random
import threading
import time
import urllib.parse
import uuid

from cluster import fail

WRITERS = 8
TABLES = "  t: { pageSize: 500, columns: { key: string } }\n"


class Course:
    """What was written so far, through which processes."""

    def __init__(self, processes, wanted):
        self.processes, self.wanted = processes, wanted
        self.lock, self.done = threading.Lock(), threading.Event()
        # The version that each key was answered with, and how many requests were sent again.
        self.acknowledged, self.repeats = {}, 0
        self.begun = 0
        self.seen = {"token": set(), "time": set()}
        self.writers = [threading.Thread(target=self.write, args=(number,), daemon=True) for number in range(WRITERS)]
        self.readers = [threading.Thread(target=self.read, args=(by,), daemon=True) for by in self.seen]

    def start(self):
        for thread in self.readers + self.writers:
            thread.start()

    def finish(self):
        """Waits until the readers have read to the end."""
        for thread in self.writers:
            thread.join()
        self.done.set()
        for thread in self.readers:
            thread.join()

    def missed(self):
        return {by: len(set(self.acknowledged) - seen) for by, seen in self.seen.items()}

    def account(self, rows):
        """What is wrong with the rows of the database, `key|version`, beside what was answered: in words, and whether."""
        rows = [row.split("|") for row in rows]
        stored, missed = dict(rows), self.missed()
        lost = sum(stored.get(key) != version for key, version in self.acknowledged.items())
        unheard = sum(key not in self.acknowledged for key in stored)
        twice = len(rows) - len(stored)
        words = (
            f"{len(self.acknowledged)} writes answered, {self.repeats} requests sent again; lost or with another version"
            f" {lost}, there twice {twice}, there but answered to nobody {unheard}; missed by token {missed['token']}, by time"
            f" {missed['time']}")
        return words, bool(lost or unheard or twice or missed["token"] or missed["time"])

    def stop(self):
        """Lets the writers begin nothing more."""
        with self.lock:
            self.wanted = self.begun

    def begin(self):
        """How many records the next transaction has: as many as are wanted in all."""
        with self.lock:
            count = min(random.randint(1, 20), self.wanted - self.begun)
            self.begun += count
            return count

    def write(self, number):
        turn = 0
        while count := self.begin():
            turn += 1
            keys = [f"w{number}-{turn}-{part}" for part in range(count)]
            # Half of the records get their id from the server: carried out twice they would be there twice.
            requests = [
                {"id": str(part), "atomicityGroup": "g", "method": "POST", "url": "/tables/t",
                 "headers": {"repeatability-request-id": str(uuid.uuid4()),
                             "repeatability-first-sent": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())},
                 "body": {"key": key} | ({"id": key} if part % 2 else {})}
                for part, key in enumerate(keys)]
            self.send(number, keys, requests)

    def send(self, number, keys, requests):
        """The same requests with the same ids, through whichever process answers, until one says what became of them."""
        for attempt in range(2000):
            process = self.processes[(number + attempt) % len(self.processes)]
            status, _, answer = process.call("POST", "/tables/$batch", {"requests": requests})
            parts = (answer or {}).get("responses", [])
            statuses = {part["status"] for part in parts}
            if status == 200 and len(parts) == len(keys) and statuses == {201}:
                with self.lock:
                    self.acknowledged |= {key: part["body"]["version"] for key, part in zip(keys, parts)}
                return
            if 409 in statuses:
                fail("a repeat was carried out twice", [part for part in parts if part["status"] == 409])
            if status not in (0, 200, 503) or not statuses <= {201, 424, 503}:
                fail("a writer was answered", status, [part for part in parts if part["status"] not in (201, 424)])
            with self.lock:
                self.repeats += 1
            time.sleep(random.uniform(0.02, 0.1))
        fail("no answer for a write", status, parts[:2])

    def read(self, by):
        seen, position, turn, quiet = self.seen[by], "", 0, 0
        while quiet < 3:
            ends = self.done.is_set()
            turn += 1
            path = "/tables/t?"
            if by == "token":
                path += f"$deltatoken={position}" if position else ""
            else:
                # As clients of the toolkit do: the last time once more, since the wire shows milliseconds.
                path += "$orderby=updatedAt&$top=500"
                if position:
                    path += "&$filter=" + urllib.parse.quote(f"updatedAt ge cast({position},Edm.DateTimeOffset)")
            status, headers, answer = self.processes[turn % len(self.processes)].call(
                "GET", path, headers={"Prefer": "odata.track-changes"} if by == "token" else {})
            if status in (0, 503):
                time.sleep(0.05)
                continue
            if status != 200:
                fail(f"a reader by {by} was answered", status)
            rows = answer["items"]
            new = [row["key"] for row in rows if row["key"] not in seen]
            seen.update(new)
            if by == "token":
                position = headers["x-sluice-delta-token"]
            elif rows:
                if len(rows) == 500 and rows[-1]["updatedAt"] == position:
                    fail("more than a page has the same millisecond: a reader by time cannot go on")
                position = rows[-1]["updatedAt"]
            quiet = quiet + 1 if ends and not new else 0
