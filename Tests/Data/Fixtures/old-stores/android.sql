-- A store as the Android client 3 writes it: names in small letters, numbers as doubles, and a refused operation among the
-- errors alone.
PRAGMA user_version = 1;
CREATE TABLE android_metadata (locale TEXT);
INSERT INTO android_metadata VALUES ('en_US');
CREATE TABLE "todos" ("id" TEXT PRIMARY KEY, "deleted" INTEGER, "updatedat" TEXT, "version" TEXT, "extra" TEXT, "photo" TEXT, "big" INTEGER, "due" TEXT, "cost" REAL, "rank" INTEGER, "done" INTEGER, "text" TEXT, "createdat" TEXT);
CREATE TABLE "__operations" ("id" TEXT PRIMARY KEY, "item" TEXT, "state" REAL, "sequence" REAL, "__queueloadedat" TEXT, "createdat" TEXT, "itemid" TEXT, "tablename" TEXT, "kind" REAL);
CREATE TABLE "__errors" ("id" TEXT PRIMARY KEY, "createdat" TEXT, "operationkind" TEXT, "serveritem" TEXT, "serverresponse" TEXT, "statuscode" REAL, "errormessage" TEXT, "clientitem" TEXT, "itemid" TEXT, "tablename" TEXT, "operationid" TEXT);
CREATE TABLE "__incrementalpulldata" ("id" TEXT PRIMARY KEY, "maxupdateddate" TEXT);
INSERT INTO "todos" VALUES ('t1', 0, '2020-01-01T00:00:00.000Z', '{t1}', '{"a":[1,null]}', 'AAEC', 9007199254740993, '2019-01-02T03:04:05.678Z', 2.5, 3, 1, '007', '2020-01-01T00:00:00.000Z');
INSERT INTO "todos" VALUES ('t2', 0, '2020-01-01T00:00:00.000Z', '{t2}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2020-01-01T00:00:00.000Z');
INSERT INTO "todos" VALUES ('t3', 0, '2020-01-01T00:00:00.000Z', '{t3}', '[]', '', -9007199254740993, '2019-01-02T03:04:05.000Z', 0.25, -1, 0, 'edited', '2020-01-01T00:00:00.000Z');
INSERT INTO "todos" VALUES ('t5', NULL, NULL, NULL, '{"b":2}', NULL, 9007199254740993, '2019-01-02T03:04:05.678Z', NULL, 5, 1, 'new', NULL);
INSERT INTO "todos" VALUES ('t6', 0, '2020-01-01T00:00:00.000Z', 'older', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'mine', '2020-01-01T00:00:00.000Z');
INSERT INTO "__operations" VALUES ('5d0f4e6a-0000-4000-8000-000000000005', NULL, 0.0, 3.0, '2019-05-01T10:00:00.000Z', '2019-05-01T10:00:03.000Z', 't5', 'todos', 0.0);
INSERT INTO "__operations" VALUES ('5d0f4e6a-0000-4000-8000-000000000003', NULL, 0.0, 0.0, '2019-05-02T08:30:00.250Z', '2019-05-02T08:30:01.250Z', 't3', 'todos', 1.0);
INSERT INTO "__operations" VALUES ('5d0f4e6a-0000-4000-8000-000000000004', '{"id":"t4","text":"gone","done":true,"version":"{t4}"}', 2.0, 1.0, '2019-05-02T08:30:00.250Z', '2019-05-02T08:30:02.250Z', 't4', 'todos', 2.0);
INSERT INTO "__errors" VALUES ('e1', '2019-05-02T08:31:00.000Z', '1.0', '{"id":"t6","text":"theirs","version":"{t6}","updatedAt":"2020-01-01T00:00:00.000Z","deleted":false}', NULL, 412.0, 'Precondition failed', '{"id":"t6","text":"mine","version":"older"}', 't6', 'todos', '5d0f4e6a-0000-4000-8000-000000000006');
INSERT INTO "__incrementalpulldata" VALUES ('todos_all', '2020-01-01T00:00:00.000Z');
