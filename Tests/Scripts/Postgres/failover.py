"""Failovers under the load of `order.py`: the primary is killed with SIGKILL and its replica promoted, which the processes
reach by the second host of their URL. What was answered is there, with the version that was answered.

    failover.py SLUICE CYCLES

Before each failover commits wait for the replica (`synchronous_standby_names`), as the page for operators says. The killed
server becomes the new one's replica.
"""
import collections
import os
import sys
import threading
import time

from cluster import Process, fail
from course import TABLES, Course
from servers import Server, wait_until

PROCESSES = 3
# Writers end with the failovers; there are never that many.
ENDLESS = 1 << 40
# How long there is no primary, in seconds.
OUTAGE = 3


class Both:
    """The two servers as a database of processes."""

    def __init__(self, servers):
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
        self.url = f"postgres://sluice@{hosts}/postgres?target_session_attrs=read-write&readers=2&statement_timeout=5"


class Probe(threading.Thread):
    """Asks all the while, and counts the answers by their status."""

    def __init__(self, process, method):
        super().__init__(daemon=True)
        self.process, self.method, self.isDone, self.statuses = process, method, False, collections.Counter()
        self.withoutRetry = 0

    def run(self):
        number = 0
        while not self.isDone:
            number += 1
            path, body = ("/tables/t?$top=1", None) if self.method == "GET" else ("/tables/probes", {"id": f"p{number}"})
            status, headers, _ = self.process.call(self.method, path, body)
            self.statuses[status] += 1
            if status == 503 and "retry-after" not in headers:
                self.withoutRetry += 1
            time.sleep(0.05)


def answered(course, count):
    """Waits until that many more writes were answered."""
    wanted = len(course.acknowledged) + count
    wait_until("writes are answered", lambda: len(course.acknowledged) >= wanted)


def play(sluice, cycles):
    servers = [Server("one"), Server("two")]
    primary, replica = servers
    primary.make()
    primary.start()
    both = Both(servers)
    processes = [Process(sluice, both, TABLES + "  probes: {}\n") for _ in range(PROCESSES)]
    probes = [Probe(processes[0], "GET"), Probe(processes[1], "POST")]
    pauses = []
    try:
        course = Course(processes, ENDLESS)
        course.start()
        for probe in probes:
            probe.start()
        for cycle in range(cycles):
            replica.copy(primary)
            replica.start()
            primary.require_replica()
            # All that was answered before is there too, once one commit has waited.
            answered(course, 50)
            primary.kill()
            killed = time.time()
            time.sleep(OUTAGE)
            replica.promote()
            # The copy has the old primary's setting, and no replica of its own yet.
            replica.let_go()
            answered(course, 20)
            pauses.append(time.time() - killed)
            primary, replica = replica, primary
        # A replica that is away: nothing is answered that is not on two machines.
        replica.copy(primary)
        replica.start()
        primary.require_replica()
        answered(course, 50)
        replica.stop()
        time.sleep(1)
        before = len(course.acknowledged)
        time.sleep(12)
        alone = len(course.acknowledged) - before
        replica.start()
        answered(course, 50)
        course.stop()
        course.finish()
        for probe in probes:
            probe.isDone = True
            probe.join()
        rows = primary.sql("SELECT key, version FROM t")
    finally:
        for process in processes:
            process.end()
        for server in servers:
            server.stop()
    words, isWrong = course.account(rows)
    print(
        f"{cycles} failovers; writes were answered again after {', '.join(f'{pause:.1f}' for pause in pauses)} s (the replica"
        f" is promoted after {OUTAGE} s); {words}; answered in 12 s without a replica:"
        f" {alone}; other reads were answered {dict(sorted(probes[0].statuses.items()))}, writes"
        f" {dict(sorted(probes[1].statuses.items()))}, 503 without Retry-After: {sum(probe.withoutRetry for probe in probes)}")
    wrong = set(probes[0].statuses) - {200, 503} | set(probes[1].statuses) - {201, 503}
    if wrong:
        fail("requests were answered with", wrong)
    return not (isWrong or alone or any(probe.withoutRetry or not probe.statuses[503] for probe in probes))


sys.exit(0 if play(os.path.realpath(sys.argv[1]), int(sys.argv[2])) else 1)
