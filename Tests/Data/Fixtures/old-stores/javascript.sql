-- A store as the JavaScript client 2 writes it: booleans and times are integers, and no operation has a state.
CREATE TABLE [__operations] ([id] INTEGER PRIMARY KEY,[tableName] TEXT,[action] TEXT,[itemId] TEXT,[metadata] TEXT);
CREATE TABLE [__pulltime] ([id] TEXT PRIMARY KEY,[tableName] TEXT,[value] INTEGER);
CREATE TABLE [todos] ([id] TEXT PRIMARY KEY,[text] TEXT,[done] INTEGER,[rank] INTEGER,[cost] REAL,[due] INTEGER,[big] INTEGER,[photo] TEXT,[extra] TEXT,[version] TEXT,[createdAt] INTEGER,[updatedAt] INTEGER,[deleted] INTEGER);
INSERT INTO [todos] VALUES ('t1', '007', 1, 3, 2.5, 1546398245678, 9007199254740993, 'AAEC', '{"a":[1,null]}', '{t1}', 1577836800000, 1577836800000, 0);
INSERT INTO [todos] VALUES ('t2', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{t2}', 1577836800000, 1577836800000, 0);
INSERT INTO [todos] VALUES ('t3', 'edited', 0, -1, 0.25, 1546398245000, -9007199254740993, '', '[]', '{t3}', 1577836800000, 1577836800000, 0);
INSERT INTO [todos] VALUES ('t5', 'new', 1, 5, NULL, 1546398245678, 9007199254740993, NULL, '{"b":2}', NULL, NULL, NULL, NULL);
INSERT INTO [todos] VALUES ('t6', 'mine', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'older', 1577836800000, 1577836800000, 0);
INSERT INTO [__operations] VALUES (4, 'todos', 'insert', 't5', '{}');
INSERT INTO [__operations] VALUES (5, 'todos', 'update', 't3', '{"version":"{t3}"}');
INSERT INTO [__operations] VALUES (7, 'todos', 'delete', 't4', '{"version":"{t4}"}');
INSERT INTO [__operations] VALUES (9, 'todos', 'update', 't6', '{"version":"older"}');
INSERT INTO [__operations] VALUES (10, 'todos', 'update', 't9', '{"version":"x"}');
INSERT INTO [__pulltime] VALUES ('all', 'todos', 1577836800000);
INSERT INTO [__pulltime] VALUES ('never', 'todos', -86400000);
