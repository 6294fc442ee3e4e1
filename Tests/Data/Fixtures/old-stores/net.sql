-- A store as the .NET client 2 to 4 writes it. {t1} is the server's version of the record t1, as in the other files.
CREATE TABLE [todos] ([id] TEXT PRIMARY KEY, [text] TEXT, [done] BOOLEAN, [rank] INTEGER, [cost] FLOAT, [due] DATETIME, [big] INTEGER, [photo] BLOB, [extra] JSON, [version] TEXT, [createdAt] DATETIME, [updatedAt] DATETIME, [deleted] BOOLEAN);
CREATE TABLE [__operations] ([id] TEXT PRIMARY KEY, [kind] INTEGER, [state] INTEGER, [tableName] TEXT, [tableKind] INTEGER, [itemId] TEXT, [item] TEXT, [createdAt] DATETIME, [sequence] INTEGER, [version] INTEGER);
CREATE TABLE [__errors] ([id] TEXT PRIMARY KEY, [httpStatus] INTEGER, [operationVersion] INTEGER, [operationKind] INTEGER, [tableName] TEXT, [tableKind] INTEGER, [item] TEXT, [rawResult] TEXT);
CREATE TABLE [__config] ([id] TEXT PRIMARY KEY, [value] TEXT);
INSERT INTO [todos] VALUES ('t1', '007', 1, 3, 2.5, 1546398245.678, 9007199254740993, 'AAEC', '{
  "a": [
    1,
    null
  ]
}', '{t1}', 1577836800, 1577836800, 0);
INSERT INTO [todos] VALUES ('t2', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{t2}', 1577836800, 1577836800, 0);
INSERT INTO [todos] VALUES ('t3', 'edited', 0, -1, 0.25, 1546398245, -9007199254740993, '', '[]', '{t3}', 1577836800, 1577836800, 0);
INSERT INTO [todos] VALUES ('t5', 'new', 1, 5, NULL, 1546398245.678, 9007199254740993, NULL, '{"b":2}', NULL, NULL, NULL, NULL);
INSERT INTO [todos] VALUES ('t6', 'mine', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'older', 1577836800, 1577836800, 0);
INSERT INTO [__operations] VALUES ('5d0f4e6a-0000-4000-8000-000000000005', 0, 0, 'todos', 0, 't5', NULL, NULL, 4, 1);
INSERT INTO [__operations] VALUES ('5d0f4e6a-0000-4000-8000-000000000003', 1, 1, 'todos', 0, 't3', NULL, NULL, 5, 2);
INSERT INTO [__operations] VALUES ('5d0f4e6a-0000-4000-8000-000000000004', 2, 2, 'todos', 0, 't4', '{"id":"t4","text":"gone","done":true,"version":"{t4}"}', NULL, 7, 1);
INSERT INTO [__operations] VALUES ('5d0f4e6a-0000-4000-8000-000000000006', 1, 2, 'todos', 0, 't6', NULL, NULL, 9, 1);
INSERT INTO [__errors] VALUES ('5d0f4e6a-0000-4000-8000-000000000006', 412, 1, 1, 'todos', 0, '{"id":"t6","text":"mine","version":"older"}', '{"id":"t6","text":"theirs","version":"{t6}","updatedAt":"2020-01-01T00:00:00.000Z","deleted":false}');
INSERT INTO [__config] VALUES ('systemProperties|todos', '15');
INSERT INTO [__config] VALUES ('deltaToken|todos|all', '2020-01-01T01:00:00.0000000+01:00');
INSERT INTO [__config] VALUES ('deltaToken|todos|never', '1970-01-01T00:00:00.0000000+00:00');
