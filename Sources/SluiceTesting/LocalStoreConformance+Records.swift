internal import SluiceCore

extension LocalStoreConformance {
    static let records: [Check] = [
        Check("every value comes back from declared columns and undeclared properties") { store in
            try await store.define([ConformanceRecords.schema])
            try await roundTrip(ConformanceRecords.everyValueEverywhere(), in: "typed", store)
        },
        Check("every value comes back from an undeclared table") { store in
            try await roundTrip(ConformanceRecords.everyValueEverywhere(), in: "undeclared", store)
            try await roundTrip([ConformanceRecords.deepest], in: "undeclared", store)
        },
        Check("an absent property and a null are told apart") { store in
            try await store.define([ConformanceRecords.schema])
            let records: [JSON] = [
                ["id": "none"], ["id": "null", "string": .null, "undeclared": .null],
                ["id": "some", "integer": .null, "real": 1, "_extra": "x", "_absent": .null],
            ]
            try await roundTrip(records, in: "typed", store)
            try await roundTrip(records, in: "undeclared", store)
        },
        Check("ids and names are exact, whatever characters they have") { store in
            let records = ConformanceRecords.ids.map { id -> JSON in ["id": JSON(id), "é": 1, "e\u{301}": 2, "a\"b": 3]
            }
            for table in ["t", "T", "it's \"a\" table", "sqlite_master", "select", "sluice_schema", "🎬"] {
                try await roundTrip(records, in: table, store)
                let count = try await store.read { try $0.count(matching: Query(table)) }
                try expect(count == records.count, "table \(table): expected \(records.count) records, found \(count)")
            }
        },
        Check("a large value comes back") { store in
            try await store.define([ConformanceRecords.schema])
            let large = JSON(String(repeating: "large ", count: 50_000))
            try await roundTrip([["id": "1", "string": large, "other": large]], in: "typed", store)
        },
        Check("a put replaces the whole record") { store in
            try await store.define([ConformanceRecords.schema])
            try await roundTrip([["id": "1", "string": "a", "undeclared": 1, "real": 1.5]], in: "typed", store)
            try await roundTrip([["id": "1", "integer": 2, "other": "b"]], in: "typed", store)
        },
        Check("a record without a usable id is refused") { store in
            for record: JSON in [["x": 1], ["id": ""], ["id": .null], ["id": 1], ["id": ["a"]], [1], "text", .null] {
                try await expectError(.invalidRecord, "putting \(record)") {
                    try await store.write { try $0.put(record, in: "t") }
                }
            }
            var deep: JSON = 1
            for _ in 0..<JSON.maximumDepth { deep = [deep] }
            let record: JSON = ["id": "deep", "value": deep]
            try await expectError(.invalidRecord, "putting a record that nests too deep") {
                try await store.write { try $0.put(record, in: "t") }
            }
        },
        Check("a table's name that is not allowed is refused") { store in
            for name in ["", "a\u{0}b", String(repeating: "n", count: 129)] {
                try await expectError(.invalidTable, "putting into “\(name)”") {
                    try await store.write { try $0.put(["id": "1"], in: name) }
                }
                try await expectError(.invalidTable, "declaring “\(name)”") {
                    try await store.define([TableSchema(name)])
                }
            }
        },
        Check("deleting by id takes those and no other") { store in
            try await store.write { writer in
                for id in ConformanceRecords.ids { try writer.put(["id": JSON(id)], in: "t") }
                try writer.delete(["a", "a\u{0}b", "\u{E9}", "nobody", "' OR 1=1 --"], from: "t")
                try writer.delete(["a"], from: "no such table")
            }
            let left = try await store.read { try $0.records(matching: Query("t")).compactMap { $0["id"]?.string } }
            let gone: [JSON] = ["a", "a\u{0}b", "\u{E9}"]
            let expected = ConformanceRecords.ids.map { JSON($0) }.filter { !gone.contains($0) }
            try expect(Set(left.map { JSON($0) }) == Set(expected), "expected \(expected), found \(left)")
        },
        Check("a table that does not exist holds nothing") { store in
            try await store.read { reader in
                try expect(try reader.record("1", in: "none") == nil, "a record was found")
                try expect(try reader.records(matching: Query("none")).isEmpty, "records were found")
                try expect(try reader.count(matching: Query("none")) == 0, "records were counted")
            }
        },
    ]
}
