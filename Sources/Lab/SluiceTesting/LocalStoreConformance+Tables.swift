internal import SluiceCore

extension LocalStoreConformance {
    private struct Stop: Error {}

    static let tables: [Check] = [
        Check("a store names the tables that it holds") { store in
            try await store.define([ConformanceRecords.schema, TableSchema("plain")])
            try await store.write { try $0.put(["id": "1"], in: "undeclared") }
            let tables = try await store.read { try $0.tables() }
            let names = Set(tables.map(\.name))
            try expect(
                names == [ConformanceRecords.schema.name, "plain", "undeclared"], "expected 3 tables, found \(names)")
            let typed = tables.first { $0.name == ConformanceRecords.schema.name }
            try expect(typed == ConformanceRecords.schema, "a table is named otherwise than it was declared")
            try expect(
                tables.first { $0.name == "undeclared" } == TableSchema("undeclared"),
                "a table that was not declared has columns")
        },
        Check("a table that is declared anew keeps every record as it was") { store in
            let records = ConformanceRecords.everyValueEverywhere() + ConformanceRecords.random(600, seed: 11)
            let schema = ConformanceRecords.schema
            try await store.define([schema])
            try await roundTrip(records, in: schema.name, store)
            // Every column with another type, no columns, some columns under other names, and the first schema again.
            let types = TableSchema.ColumnType.allCases
            let turned = schema.columns.map { column in
                let place = types.firstIndex(of: column.type) ?? 0
                return TableSchema.Column(column.name, types[(place + 1) % types.count])
            }
            for wanted in [
                TableSchema(schema.name, columns: turned, indexes: turned.prefix(1).map { [$0.name] }),
                TableSchema(schema.name),
                TableSchema(schema.name, columns: turned.prefix(2).map { .init("other \($0.name)", $0.type) }), schema,
            ] {
                try await store.write { writer in
                    try writer.redeclare(wanted)
                    let held = try writer.tables().first { $0.name == wanted.name }
                    try expect(held == wanted, "a table that was declared anew is not declared so")
                }
                try await expectRecords(records, in: schema.name, store)
            }
        },
        Check("declaring anew makes a table, and refuses what cannot be declared") { store in
            try await store.write { try $0.redeclare(TableSchema("new", columns: [.init("n", .integer)])) }
            try await roundTrip([["id": "1", "n": 1]], in: "new", store)
            try await expectError(.invalidTable, "two columns of one name") {
                try await store.write {
                    try $0.redeclare(TableSchema("new", columns: [.init("a", .string), .init("A", .string)]))
                }
            }
            try await expectRecords([["id": "1", "n": 1]], in: "new", store)
        },
        Check("a table that is dropped is gone with its records, and may come again") { store in
            try await store.define([ConformanceRecords.schema])
            try await roundTrip([["id": "1", "n": 1]], in: ConformanceRecords.schema.name, store)
            try await roundTrip([["id": "1", "n": 1]], in: "other", store)
            try await store.write { writer in
                try writer.drop(ConformanceRecords.schema.name)
                try writer.drop("no such table")
                let found = try writer.record("1", in: ConformanceRecords.schema.name)
                try expect(found == nil, "a dropped table holds a record")
            }
            let names = try await store.read { try $0.tables().map(\.name) }
            try expect(names == ["other"], "expected the table other, found \(names)")
            try await store.write { try $0.put(["id": "2", "n": "x"], in: ConformanceRecords.schema.name) }
            try await expectRecords([["id": "2", "n": "x"]], in: ConformanceRecords.schema.name, store)
        },
        Check("tables come back when the transaction that changed them throws") { store in
            let records = ConformanceRecords.everyValueEverywhere()
            try await store.define([ConformanceRecords.schema])
            try await roundTrip(records, in: ConformanceRecords.schema.name, store)
            try await roundTrip([["id": "1", "n": 1]], in: "other", store)
            do {
                try await store.write { writer in
                    try writer.redeclare(TableSchema(ConformanceRecords.schema.name))
                    try writer.drop("other")
                    try writer.put(["id": "9"], in: "third")
                    throw Stop()
                }
            } catch is Stop {}
            let tables = try await store.read { try $0.tables() }
            try expect(
                Set(tables.map(\.name)) == [ConformanceRecords.schema.name, "other"], "a rollback left other tables")
            try expect(tables.contains(ConformanceRecords.schema), "a rollback left a table declared anew")
            try await expectRecords(records, in: ConformanceRecords.schema.name, store)
            try await expectRecords([["id": "1", "n": 1]], in: "other", store)
        },
    ]
}
