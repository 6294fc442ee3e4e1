-- A store as an application with the Community Toolkit's client writes it, of a device at +01:00.
CREATE TABLE "Todos" ("Id" TEXT NOT NULL CONSTRAINT "PK_Todos" PRIMARY KEY, "Text" TEXT NULL, "Done" INTEGER NULL, "Rank" INTEGER NOT NULL, "Cost" REAL NULL, "Due" TEXT NULL, "Seen" TEXT NULL, "Tag" TEXT NULL, "Big" INTEGER NULL, "Photo" BLOB NULL, "Extra" TEXT NULL, "Version" TEXT NULL, "UpdatedAt" TEXT NULL, "Deleted" INTEGER NOT NULL);
CREATE TABLE "DatasyncDeltaTokens" ("Id" TEXT NOT NULL CONSTRAINT "PK_DatasyncDeltaTokens" PRIMARY KEY, "Value" INTEGER NOT NULL);
CREATE TABLE "DatasyncOperationsQueue" ("Id" TEXT NOT NULL CONSTRAINT "PK_DatasyncOperationsQueue" PRIMARY KEY, "Kind" INTEGER NOT NULL, "State" INTEGER NOT NULL, "LastAttempt" TEXT NULL, "HttpStatusCode" INTEGER NULL, "EntityType" TEXT NOT NULL, "ItemId" TEXT NOT NULL, "EntityVersion" TEXT NOT NULL, "Item" TEXT NOT NULL, "Sequence" INTEGER NOT NULL, "Version" INTEGER NOT NULL);
CREATE TABLE "__EFMigrationsHistory" ("MigrationId" TEXT NOT NULL CONSTRAINT "PK___EFMigrationsHistory" PRIMARY KEY, "ProductVersion" TEXT NOT NULL);
INSERT INTO "Todos" VALUES ('t1', '007', 1, 3, 2.5, '2019-01-02 04:04:05.678', '2019-01-02 04:04:05.678+01:00', '0FEDCBA9-0000-4000-8000-00000000000A', 9007199254740993, X'000102', '{"a":[1,null]}', '{t1}', '2020-01-01 00:00:00+00:00', 0);
INSERT INTO "Todos" VALUES ('t2', NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{t2}', '2020-01-01 00:00:00+00:00', 0);
INSERT INTO "Todos" VALUES ('t3', 'edited', 0, -1, 0.25, '2019-01-02 04:04:05', NULL, NULL, -9007199254740993, X'', '[]', '{t3}', '2020-01-01 00:00:00+00:00', 0);
INSERT INTO "Todos" VALUES ('t5', 'new', 1, 0, NULL, '2019-01-02 04:04:05.678', NULL, NULL, 9007199254740993, NULL, '{"b":2}', NULL, NULL, 0);
INSERT INTO "Todos" VALUES ('t6', 'mine', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'older', '2020-01-01 00:00:00+00:00', 0);
INSERT INTO "DatasyncOperationsQueue" VALUES ('5d0f4e6a000040008000000000000005', 0, 0, NULL, NULL, 'App.Model.Todo', 't5', '', '{"id":"t5","text":"new","done":true,"due":"2019-01-02T03:04:05.678Z","big":9007199254740993,"extra":"{\"b\":2}"}', 1, 0);
INSERT INTO "DatasyncOperationsQueue" VALUES ('5d0f4e6a000040008000000000000003', 2, 0, NULL, NULL, 'App.Model.Todo', 't3', '{t3}', '{"id":"t3","version":"{t3}","text":"edited","done":false,"rank":-1,"cost":0.25,"due":"2019-01-02T03:04:05.000Z","big":-9007199254740993,"photo":"","extra":"[]","updatedAt":"2020-01-01T00:00:00.000Z"}', 2, 1);
INSERT INTO "DatasyncOperationsQueue" VALUES ('5d0f4e6a000040008000000000000004', 1, 0, NULL, NULL, 'App.Model.Todo', 't4', '{t4}', '{"id":"t4","text":"gone","done":true,"version":"{t4}"}', 3, 0);
INSERT INTO "DatasyncOperationsQueue" VALUES ('5d0f4e6a000040008000000000000006', 2, 2, '2020-01-02 00:00:00.1234567+00:00', 412, 'App.Model.Todo', 't6', 'older', '{"id":"t6","text":"mine","version":"older"}', 4, 0);
INSERT INTO "DatasyncOperationsQueue" VALUES ('5d0f4e6a000040008000000000000007', 2, 1, NULL, 412, 'App.Model.Todo', 't2', '{t2}', '{"id":"t2","text":"given up"}', 5, 0);
INSERT INTO "DatasyncDeltaTokens" VALUES ('App.Model.Todo', 1577836800000);
INSERT INTO "DatasyncDeltaTokens" VALUES ('q-App.Model.Todo-north-west', 1577836800000);
