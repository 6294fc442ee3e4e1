-- A store as Microsoft.Datasync.Client 5 and 6 write it: other numbers of kinds and states, times in milliseconds.
CREATE TABLE [todos] ([id] TEXT PRIMARY KEY, [text] TEXT, [done] BOOLEAN, [rank] INTEGER, [cost] FLOAT, [due] DATETIME, [big] INTEGER, [photo] BLOB, [extra] JSON, [version] TEXT, [updatedAt] DATETIME, [deleted] BOOLEAN);
CREATE TABLE [__operations] ([id] TEXT PRIMARY KEY, [kind] INTEGER, [state] INTEGER, [tableName] TEXT, [itemId] TEXT, [item] TEXT, [sequence] INTEGER, [version] INTEGER);
CREATE TABLE [__errors] ([id] TEXT PRIMARY KEY, [status] INTEGER, [version] INTEGER, [kind] INTEGER, [tableName] TEXT, [item] TEXT, [rawResult] TEXT);
CREATE TABLE [__config] ([id] TEXT PRIMARY KEY, [value] INTEGER);
INSERT INTO [todos] VALUES ('t1', '007', 1, 3, 2.5, 1546398245678, 9007199254740993, 'AAEC', '{"a":[1,null]}', '{t1}', 1577836800000.123, 0);
INSERT INTO [todos] VALUES ('t2', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{t2}', 1577836800000, 0);
INSERT INTO [todos] VALUES ('t3', 'edited', 0, -1, 0.25, 1546398245000, -9007199254740993, '', '[]', '{t3}', 1577836800000, 0);
INSERT INTO [todos] VALUES ('t5', 'new', 1, 5, NULL, 1546398245678, 9007199254740993, NULL, '{"b":2}', NULL, NULL, NULL);
INSERT INTO [todos] VALUES ('t6', 'mine', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'older', 1577836800000, 0);
INSERT INTO [__operations] VALUES ('5d0f4e6a000040008000000000000005', 2, 0, 'todos', 't5', NULL, 4, 1);
INSERT INTO [__operations] VALUES ('5d0f4e6a000040008000000000000003', 3, 1, 'todos', 't3', NULL, 5, 2);
INSERT INTO [__operations] VALUES ('5d0f4e6a000040008000000000000004', 1, 3, 'todos', 't4', '{"id":"t4","text":"gone","done":true,"version":"{t4}","updatedAt":"2020-01-01T00:00:00.000Z","deleted":false}', 7, 1);
INSERT INTO [__operations] VALUES ('5d0f4e6a000040008000000000000006', 3, 3, 'todos', 't6', NULL, 9, 1);
INSERT INTO [__errors] VALUES ('5d0f4e6a000040008000000000000006', 412, 1, 3, 'todos', '{"id":"t6","text":"mine"}', '{"id":"t6","text":"theirs","version":"{t6}","updatedAt":"2020-01-01T00:00:00.000Z","deleted":false}');
INSERT INTO [__config] VALUES ('dt.todos.all', 1577836800000);
INSERT INTO [__config] VALUES ('dt.todos.never', 0);
