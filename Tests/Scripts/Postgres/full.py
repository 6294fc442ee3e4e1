"""A full disk under the database: 507, nothing of the request is written, reads go on, and with room again so do writes.

    full.py SLUICE

The disk is a file system in memory that has to be mounted; where that is not allowed nothing is played, and it says so.
"""
import os
import subprocess
import sys
import uuid

from cluster import Database, Process, fail
from servers import AS, FOLDER, run, wait_until

SIZE = 24
TABLES = "  t: { pageSize: 1000, columns: { text: string } }\n"


def filling(count):
    """A text that the database cannot make smaller."""
    return os.urandom(count).hex()


def group(ids):
    return {"requests": [
        {"id": str(index), "atomicityGroup": "g", "method": "POST", "url": "/tables/t",
         "body": {"id": name, "text": filling(100_000 if index else 10)}} for index, name in enumerate(ids)]}


def play(sluice):
    small = f"{FOLDER}/small"
    os.mkdir(small)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        print(f"a full disk was not played: nothing may be mounted here ({mounted.stderr.strip()})")
        return True
    process = None
    try:
        os.mkdir(f"{small}/space")
        if AS:
            subprocess.run(["chown", "-R", "postgres", small], check=True)
        database = Database()
        database.sql(f"CREATE TABLESPACE {database.name} OWNER {database.name} LOCATION '{small}/space'")
        database.sql(f"ALTER ROLE {database.name} SET default_tablespace = {database.name}")
        # What takes the room that is made again later.
        run("dd", "if=/dev/zero", f"of={small}/filler", "bs=1M", "count=8", "status=none", check=False)
        process = Process(sluice, database, TABLES)
        stored, statuses = [], []
        while 507 not in statuses:
            name = f"r{len(stored)}"
            status, _, _ = process.call("POST", "/tables/t", {"id": name, "text": filling(50_000)})
            statuses.append(status)
            if status == 201:
                stored.append(name)
            elif status != 507:
                fail("a write on a full disk was answered", status)
            if len(stored) > 1000:
                fail("the disk is never full")
        groups = 0
        for number in range(5):
            # The first part is small and has room; all of the group goes with the others.
            _, _, answer = process.call("POST", "/tables/$batch", group([f"g{number}-{part}" for part in range(20)]))
            parts = {part["status"] for part in answer["responses"]}
            if not parts <= {507, 424} or 507 not in parts:
                fail("a group on a full disk was answered", parts)
            groups += 1
        rows = database.sql("SELECT id FROM t ORDER BY id")
        if rows != sorted(stored):
            fail("the table has", set(rows) ^ set(stored), "more or less than was answered")
        status, _, answer = process.call("GET", "/tables/t?$top=1000&$select=id")
        if status != 200 or len(answer["items"]) != len(stored):
            fail("a read on a full disk was answered", status)
        os.remove(f"{small}/filler")
        wait_until(
            "a write has room again",
            lambda: process.call("POST", "/tables/t", {"id": str(uuid.uuid4()), "text": filling(50_000)})[0] == 201, 30)
        after = database.sql("SELECT count(*) FROM t")[0]
        print(
            f"{len(stored)} records had room on {SIZE} MB; then 507, also for {groups} groups of 20 of which nothing was written;"
            f" reads went on; with room again writes did too ({after} records)")
        database.sql("DROP TABLE t CASCADE")
    finally:
        if process:
            process.end()
        subprocess.run(["umount", "-l", small], check=False)
    return True


sys.exit(0 if play(os.path.realpath(sys.argv[1])) else 1)
