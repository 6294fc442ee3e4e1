"""Four `sluice serve` processes on one PostgreSQL database, eight writers with transactions of random length, and readers
that pull all the while by token and by time: none may miss a record.

    order.py SLUICE WRITES [--planted]

With --planted the lock that gives the order of commits is taken away: readers have to miss something then.
"""
import sys
import time

from cluster import Database, Process
from course import TABLES, WRITERS, Course

PROCESSES = 4

# Some records take longer, so that transactions which began early are committed late.
PAUSES = """
    CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF random() < 0.002 THEN PERFORM pg_sleep(random() * 0.1); END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER pause BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION pause();
"""

# A view has no row to lock, so transactions run side by side. Otherwise all is as it was: what is given out never goes back.
PLANTED = """
    ALTER TABLE sluice_counter RENAME TO kept;
    CREATE FUNCTION counted() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT value FROM kept';
    CREATE VIEW sluice_counter AS SELECT counted() AS value;
    CREATE FUNCTION count_on() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE kept SET value = NEW.value WHERE value < NEW.value;
        RETURN NEW;
    END $$;
    CREATE TRIGGER count_on INSTEAD OF UPDATE ON sluice_counter FOR EACH ROW EXECUTE FUNCTION count_on();
"""


def play(sluice, wanted, planted):
    database = Database()
    processes = [Process(sluice, database, TABLES) for _ in range(PROCESSES)]
    try:
        database.sql(PAUSES)
        if planted:
            database.sql(f"SET ROLE {database.name}; {PLANTED}")
        course = Course(processes, wanted)
        started = time.time()
        course.start()
        for thread in course.writers:
            thread.join()
        seconds = time.time() - started
        course.finish()
        stored = database.sql("SELECT count(*) || '|' || count(DISTINCT key) FROM t")[0]
    finally:
        for process in processes:
            process.end()
    missed = course.missed()
    print(
        f"{len(course.acknowledged)} writes by {WRITERS} writers through {PROCESSES} processes in {seconds:.0f} s"
        f" ({len(course.acknowledged) / seconds:.0f}/s), {course.repeats} requests sent again; stored|different: {stored};"
        f" missed by token {missed['token']}, by time {missed['time']}"
        + (" (planted: without the lock)" if planted else ""))
    if planted:
        return missed["token"] > 0 and missed["time"] > 0
    return missed == {"token": 0, "time": 0} and stored == f"{wanted}|{wanted}" and len(course.acknowledged) == wanted


sys.exit(0 if play(sys.argv[1], int(sys.argv[2]), "--planted" in sys.argv) else 1)
