"""What the package sluice promises: package.py URL SOURCES."""

import asyncio
import gc
import os
import sys
import threading
import typing
import unittest
import uuid

import sluice

ENDPOINT, SOURCES = sys.argv[1:3]


def opened(endpoint=ENDPOINT, **options):
    return sluice.Context("%s.db" % uuid.uuid4(), endpoint, **options)


class Local(unittest.TestCase):
    def setUp(self):
        self.context = opened(endpoint=None)
        self.films = self.context.table("films")

    def tearDown(self):
        self.context.close()

    def fails(self, code, body):
        with self.assertRaises(sluice.SluiceError) as caught:
            body()
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_records(self):
        made = self.films.insert({"title": "Łódź 🎬", "year": 1999, "tags": ["a"], "big": 2**53 + 1, "none": None})
        self.assertEqual(len(made["id"]), 36)
        self.assertEqual(self.films.get(made["id"]), made)
        self.assertEqual(made["big"], 2**53 + 1)
        self.assertIsNone(self.films.get("nobody"))
        self.assertEqual(self.films.update({"id": made["id"], "year": 2000})["title"], "Łódź 🎬")
        self.films.insert({"id": "b", "title": "B", "year": 1990})
        self.assertEqual([film["id"] for film in self.films.query("year lt 1995")], ["b"])
        self.assertEqual(self.films.query(orderby="year desc", top=1, select="year")[0]["year"], 2000)
        self.assertEqual(self.films.count(), 2)
        self.assertEqual(self.films.count("title eq 'B'"), 1)
        self.films.delete("b")
        self.films.insert({"id": "c"})
        rows = self.context.sql("SELECT id FROM films WHERE id = :id", {"id": "c"})
        self.assertEqual(rows, [{"id": "c"}])
        error = self.fails("recordMissing", lambda: self.films.update({"id": "b", "x": 1}))
        self.assertEqual((error.details["table"], error.details["record"]), ("films", "b"))
        self.fails("invalidQuery", lambda: self.films.query("year eq"))
        with self.assertRaises(ValueError):
            self.films.get("a\0b")
        with self.assertRaises(ValueError):
            self.films.insert({"x": float("nan")})

    def test_transactions(self):
        def both(transaction):
            transaction.insert("films", {"id": "1", "year": 1})
            transaction.update("films", {"id": "1", "year": 2})
            transaction.insert("films", {"id": "2"})
            transaction.delete("films", "2")
            self.assertIsNone(transaction.get("films", "2"))
            return transaction.query("films", "year eq 2")

        self.assertEqual(self.context.write(both)[0]["id"], "1")

        def failing(transaction):
            transaction.insert("films", {"id": "3"})
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            self.context.write(failing)
        self.assertIsNone(self.films.get("3"))
        self.fails("reentrant", lambda: self.context.write(lambda transaction: self.films.get("1")))
        kept = []
        self.context.write(kept.append)
        self.fails("handle", lambda: kept[0].get("films", "1"))

    def test_queue(self):
        self.films.insert({"id": "1"})
        (operation,) = self.context.operations(["pending"], table="films", record="1")
        self.assertEqual((operation.kind, operation.state, operation.revision), ("insert", "pending", 1))
        self.assertEqual(self.context.status().pending, 1)
        self.assertEqual(self.context.retry(), 0)
        self.context.discard(operation.id)
        self.assertEqual(self.context.operations(), [])
        self.films.insert({"id": "1"})
        self.fails("operationsPending", self.films.purge)
        self.assertEqual(self.films.purge(force=True), 1)

    def test_closed(self):
        self.context.close()
        self.context.close()
        self.fails("handle", self.context.status)
        self.fails("handle", lambda: self.films.get("1"))

    def test_events(self):
        with self.context.changes() as changes:
            self.assertIsNone(changes.next(0.01))
            self.films.insert({"id": "1"})
            commit = changes.next(10)
            self.assertEqual(commit.changes, [sluice.Change("films", "1", "inserted", "local")])
        with self.context.phases() as phases:
            self.assertEqual(phases.next(10), sluice.Phase("idle"))

    def test_async_changes(self):
        async def story():
            ticks = []

            async def tick():
                while True:
                    ticks.append(1)
                    await asyncio.sleep(0.001)

            ticker = asyncio.create_task(tick())
            changes = self.context.changes()
            writer = threading.Thread(target=lambda: [self.films.insert({"id": str(i)}) for i in range(20)])
            writer.start()
            seen = set()
            async for commit in changes:
                seen.update(change.record for change in commit.changes)
                if len(seen) == 20:
                    break
            writer.join()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(changes.__anext__(), 0.05)
            self.assertGreater(len(ticks), 5)
            # Closing the context ends the iteration.
            asyncio.get_running_loop().call_later(0.05, self.context.close)
            async for _ in changes:
                self.fail("nothing has changed")
            ticker.cancel()
            return seen

        self.assertEqual(asyncio.run(story()), {str(i) for i in range(20)})

    def test_encryption(self):
        key, path = os.urandom(32), "secret.db"
        with sluice.Context(path, key=key) as context:
            context.table("films").insert({"id": "1", "title": "nobody reads this"})
        with open(path, "rb") as file:
            self.assertNotIn(b"nobody reads this", file.read())
        with sluice.Context(path, key=key) as context:
            self.assertEqual(context.table("films").get("1")["title"], "nobody reads this")
        self.fails("storeKeyRefused", lambda: sluice.Context(path, key=os.urandom(32)))
        self.fails("storeEncrypted", lambda: sluice.Context(path))
        self.fails("invalidArgument", lambda: sluice.Context(path, key=b"short"))
        with sluice.Context("words.db", passphrase="correct horse") as context:
            context.table("films").insert({"id": "1"})
        self.fails("storeKeyRefused", lambda: sluice.Context("words.db", passphrase="wrong"))

    def test_forgotten(self):
        for _ in range(50):
            self.context.changes()
        gc.collect()
        self.assertLess(len(os.listdir("/proc/self/fd")), 60)

    def test_types(self):
        for kind in (sluice.Context, sluice.Table, sluice.Transaction):
            for name, method in vars(kind).items():
                if callable(method) and not name.startswith("_"):
                    self.assertIn("return", typing.get_type_hints(method), name)
                    self.assertTrue(method.__doc__, name)


class Remote(unittest.TestCase):
    def conflict(self, ours, theirs, table="films"):
        """Has both change the record that the test is about."""
        id = str(uuid.uuid4())
        theirs.table(table).insert({"id": id, "title": "begun", "stock": 10})
        theirs.push()
        ours.table(table).pull("all")
        theirs.table(table).update({"id": id, "title": "theirs", "stock": 8})
        theirs.push()
        ours.table(table).update({"id": id, "title": "ours", "stock": 7})
        return id

    def test_conflicts(self):
        answers = [sluice.Decision.CLIENT, sluice.Decision.SERVER, None, ValueError("no idea")]
        seen = []

        def decide(conflict):
            seen.append((conflict, threading.get_ident()))
            if isinstance(answers[0], Exception):
                raise answers[0]
            return answers[0] if answers[0] is not None else {**conflict.server, "title": "merged"}

        with opened(on_conflict=decide) as ours, opened() as theirs:
            for title in ("ours", "theirs", "merged"):
                id = self.conflict(ours, theirs)
                result = ours.push()
                self.assertTrue(result.is_clean)
                self.assertEqual(result.conflicts, 1)
                self.assertEqual(ours.table("films").get(id)["title"], title)
                answers.pop(0)
            conflict, thread = seen[0]
            self.assertEqual(thread, threading.get_ident())
            titles = [conflict.client["title"], conflict.server["title"], conflict.base["title"]]
            self.assertEqual(titles, ["ours", "theirs", "begun"])
            id = self.conflict(ours, theirs)
            (failure,) = ours.push().failures
            self.assertEqual(failure.failure["message"], "a conflict handler failed: ValueError: no idea")
            self.assertEqual(ours.status().parked, 1)
            ours.resolve(failure.id, {**ours.table("films").get(id), "title": "later"})
            self.assertTrue(ours.push().is_clean)
            theirs.table("films").pull("all")
            self.assertEqual(theirs.table("films").get(id)["title"], "later")

    def test_plugins(self):
        path = "policy.yaml"
        with open(path, "w") as file:
            file.write(
                "plugins:\n  field-merge:\n    path: %s/Plugins/field-merge\n    config:\n"
                "      rules: { title: client, stock: sum_delta }\n" % SOURCES)
        with opened(plugins=path) as ours, opened() as theirs:
            id = self.conflict(ours, theirs)
            self.assertTrue(ours.push().is_clean)
            record = ours.table("films").get(id)
            self.assertEqual((record["title"], record["stock"]), ("ours", 5))

    def test_dialects(self):
        for dialect in ("azure-v1", "azure-v2", "azure-v3", "datasync"):
            with opened(dialect=dialect) as context:
                films = context.table("films")
                record = films.insert({"title": dialect})
                self.assertEqual(context.push().applied, 1, dialect)
                films.pull("all")
                self.assertEqual(films.get(record["id"])["title"], dialect)
                films.reconcile("all")

    def test_odata(self):
        settings = {"tables": {"movies": {"odata": {"delta": False}}}, "odata": {"batches": "off"}}
        for version, options in (("v2", {}), ("v4", settings)):
            with opened(ENDPOINT + "/odata/" + version, dialect="odata-" + version, settings=options) as context:
                movies = context.table("movies")
                movies.pull("all")
                self.assertGreater(movies.count(), 200)
                movies.update({"id": "id-030", "title": version})
                self.assertEqual(context.push().applied, 1, version)
            with opened() as other:
                other.table("movies").pull("all")
                self.assertEqual(other.table("movies").get("id-030")["title"], version)

    def test_groups(self):
        with opened(settings={"batch": 20}) as context:
            context.write(lambda both: [both.insert("films", {"title": "of a group"}) for _ in range(3)], group=True)
            operations = context.operations()
            self.assertEqual(len({operation.group for operation in operations}), 1)
            self.assertIsNotNone(operations[0].group)
            self.assertTrue(context.push().is_clean)

    def test_settings(self):
        settings = {
            "tables": {"films": {"columns": {"year": "integer"}, "indexes": ["year"], "local": ["note"]},
                       "drafts": {"local": True}},
            "concurrency": 2, "pageSize": 10, "readers": 2, "durability": "normal", "retries": 0,
        }
        with opened(settings=settings) as context:
            context.table("drafts").insert({"id": "1"})
            self.assertEqual(context.status().pending, 0)
            self.assertEqual(context.sql("SELECT year FROM films"), [])
        with self.assertRaises(sluice.SluiceError) as caught:
            opened(settings={"concurency": 2})
        self.assertIn("did you mean concurrency?", str(caught.exception))

    def test_proxy(self):
        # Nothing listens on that port: what goes through the proxy arrives nowhere.
        proxy = "http://ann:secret@127.0.0.1:1"
        with opened(settings={"proxy": proxy, "retries": 0}) as context:
            context.table("films").insert({"id": "through"})
            with self.assertRaises(sluice.SluiceError) as caught:
                context.push()
            self.assertEqual(caught.exception.code, "network")
            self.assertNotIn("secret", str(caught.exception))
        for settings in ({"proxy": proxy, "noProxy": ["127.0.0.0/8"]}, {"proxy": "none"}):
            with opened(settings=settings) as context:
                context.table("films").insert({})
                self.assertEqual(context.push().applied, 1)
        with self.assertRaises(sluice.SluiceError) as caught:
            opened(settings={"proxy": "socks5://secret"})
        self.assertNotIn("secret", str(caught.exception))

    def test_offline(self):
        with opened("http://127.0.0.1:1", settings={"retries": 0}) as context:
            context.table("films").insert({"id": "1"})
            with self.assertRaises(sluice.SluiceError) as caught:
                context.push()
            self.assertEqual(caught.exception.code, "network")
            self.assertEqual(caught.exception.details["push"]["remaining"], 1)
            self.assertEqual(context.status().phase, "offline")

    def test_tokens(self):
        asked = []

        def provide(refused):
            asked.append(refused)
            return "token-%d" % len(asked)

        with opened(token=provide, token_scheme="bearer") as context:
            with self.assertRaises(sluice.SluiceError) as caught:
                context.table("secrets").pull()
            self.assertEqual(caught.exception.code, "unauthorized")
        self.assertEqual(asked[:2], [None, "token-1"])


unittest.main(argv=["package"], verbosity=0)
