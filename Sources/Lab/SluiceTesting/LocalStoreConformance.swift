public import SluiceCore

/// The checks that every ``LocalStore`` passes.
///
/// ```swift
/// @Test("conforms", arguments: LocalStoreConformance.checks)
/// func conforms(check: LocalStoreConformance.Check) async throws {
///     try await check.run { MyStore() }
/// }
/// ```
public enum LocalStoreConformance {
    /// One named check.
    public struct Check: Sendable, CustomStringConvertible {
        /// The rule that is checked, as a sentence.
        public let name: String
        private let body: @Sendable (any LocalStore) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (any LocalStore) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The name.
        public var description: String { name }

        /// Runs the check on an empty store from `makeStore`, and closes the store afterwards.
        ///
        /// - Throws: ``ConformanceFailure`` with a description of the difference, or the error that the store threw.
        public func run(makeStore: @Sendable () async throws -> any LocalStore) async throws {
            let store = try await makeStore()
            do {
                try await body(store)
            } catch {
                try? await store.close()
                throw error
            }
            try await store.close()
        }
    }

    /// Every check.
    public static let checks: [Check] = records + schemas + tables + queries + transactions + pages + rows

    /// One named check of the store's contents after it was reopened.
    public struct ReopenCheck: Sendable, CustomStringConvertible {
        /// The rule that is checked, as a sentence.
        public let name: String
        private let body: @Sendable (Reopened) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (Reopened) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The name.
        public var description: String { name }

        /// Runs the check on a store whose file may be open several times.
        ///
        /// It shows that every acknowledged write has left the store's own memory when the call returns, so that the
        /// end of the process loses nothing. It does not show the effect of a power cut.
        ///
        /// - Parameter open: opens the store, always at the same place, which is empty at first. It is called again
        ///   after the store before was closed, or after the check stopped using that store, as at the end of a
        ///   process. The unused store stays in memory until the check ends, so that it writes nothing late.
        /// - Throws: ``ConformanceFailure`` with a description of the difference, or the error that the store threw. A
        ///   store that throws `storeBusy` while another is open at its place needs ``run(in:open:)``.
        public func run(open: @escaping @Sendable () async throws -> any LocalStore) async throws {
            try await run(Reopened(open))
        }

        /// Runs the check, as ``run(open:)`` does, on a store that can be open only once at a time.
        ///
        /// After the end of a process the store is opened in a copy of its folder. The copy is made while the earlier
        /// store still has its files open, so all files of the store must be in that folder.
        ///
        /// - Parameters:
        ///   - folder: an empty folder for the check; its files stay there afterwards.
        ///   - open: opens the store in the given folder, which is inside `folder`.
        /// - Throws: ``ConformanceFailure`` with a description of the difference, or the error that the store threw.
        public func run(
            in folder: String, open: @escaping @Sendable (_ folder: String) async throws -> any LocalStore
        ) async throws {
            try await run(Reopened(in: folder, open))
        }

        private func run(_ place: Reopened) async throws {
            do {
                try await body(place)
            } catch {
                try? await place.end()
                throw error
            }
            try await place.end()
        }
    }

    /// The checks for stores that keep their records after the process has ended.
    ///
    /// ```swift
    /// @Test("conforms when it is opened anew", arguments: LocalStoreConformance.reopenChecks)
    /// func reopens(check: LocalStoreConformance.ReopenCheck) async throws {
    ///     let path = makeEmptyFolder() + "/store"
    ///     try await check.run { try MyStore(path: path) }
    ///     // Or, where only one at a time may have it open:
    ///     // try await check.run(in: makeEmptyFolder()) { try MyStore(path: $0 + "/store") }
    /// }
    /// ```
    public static let reopenChecks: [ReopenCheck] = durability
}

extension LocalStoreConformance {
    static let schemas: [Check] = [
        Check("declaring a table twice changes nothing") { store in
            try await store.define([ConformanceRecords.schema])
            try await roundTrip(ConformanceRecords.everyValueEverywhere(), in: "typed", store)
            try await store.define([ConformanceRecords.schema, ConformanceRecords.schema])
            try await store.define([TableSchema("typed")])
            for record in ConformanceRecords.everyValueEverywhere() {
                let found = try await store.read { try $0.record(record["id"]?.textID ?? "", in: "typed") }
                try expectSame(found, record, "after declaring again")
            }
        },
        Check("declaring columns later keeps every record as it was") { store in
            let records = ConformanceRecords.everyValueEverywhere() + ConformanceRecords.random(600, seed: 7)
            try await roundTrip(records, in: "typed", store)
            for count in 1...ConformanceRecords.schema.columns.count {
                let columns = Array(ConformanceRecords.schema.columns.prefix(count))
                try await store.define([TableSchema("typed", columns: columns)])
            }
            try await store.define([ConformanceRecords.schema])
            let found = try await store.read { reader in
                try records.map { try reader.record($0["id"]?.textID ?? "", in: "typed") }
            }
            for (record, found) in zip(records, found) { try expectSame(found, record, "after declaring columns") }
            let expected = try TableQuery.Evaluator(TableQuery("typed"), schema: ConformanceRecords.schema).apply(
                to: records)
            let all = try await store.read { try $0.records(matching: TableQuery("typed")) }
            try expect(
                all.map { $0["id"] } == expected.map { $0["id"] }, "the records are not in the order of their ids")
        },
        Check("a column's type cannot change") { store in
            try await store.define([TableSchema("t", columns: [.init("a", .string)])])
            try await expectError(.storeSchema, "changing a type") {
                try await store.define([
                    TableSchema("u"), TableSchema("t", columns: [.init("b", .string), .init("a", .integer)]),
                ])
            }
            try await roundTrip([["id": "1", "a": "x", "b": 1]], in: "t", store)
        },
        Check("columns that cannot be are refused") { store in
            for names in [["a", "A"], ["id"], ["ID"], ["_extra"], [""], ["a\u{0}"]] {
                try await expectError(.invalidTable, "declaring the columns \(names)") {
                    try await store.define([TableSchema("t", columns: names.map { .init(PropertyName($0), .string) })])
                }
            }
            try await expectError(.invalidTable, "an index on nothing") {
                try await store.define([TableSchema("t", columns: [.init("a", .string)], indexes: [["b"]])])
            }
        },
    ]
}

extension LocalStoreConformance {
    /// Requires a condition.
    ///
    /// - Throws: ``ConformanceFailure`` unless `condition` holds.
    static func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(message()) }
    }

    /// Requires that both records print the same, in any order of members: `1.10` is not `1.1` here.
    ///
    /// - Throws: ``ConformanceFailure`` unless they do.
    static func expectSame(_ found: JSON?, _ expected: JSON?, _ place: String) throws {
        let (found, expected) = (found.map(canonical), expected.map(canonical))
        try expect(
            found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
            "\(place): expected \(expected ?? "nothing"), found \(found ?? "nothing")")
    }

    /// Requires that `body` throws a ``SluiceError`` of that code.
    ///
    /// - Throws: ``ConformanceFailure`` unless it does.
    static func expectError(
        _ code: SluiceError.Code, _ place: String, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as SluiceError {
            try expect(error.code == code, "\(place): expected the error \(code), found \(error.code): \(error)")
            return
        }
        throw ConformanceFailure("\(place): expected the error \(code), found none")
    }

    /// Returns the value as text, with members in the order of their names.
    static func canonical(_ value: JSON) -> String {
        switch value.kind {
        case .array: "[" + (value.elements ?? []).map(canonical).joined(separator: ",") + "]"
        case .object:
            "{"
                + (value.members ?? []).sorted { $0.name < $1.name }
                .map { "\(JSON($0.name)):\(canonical($0.value))" }.joined(separator: ",") + "}"
        default: value.description
        }
    }

    /// Puts the records, and checks that reading each by its id returns it unchanged.
    static func roundTrip(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        try await store.write { writer in for record in records { try writer.put(record, in: table) } }
        let read = try await store.read { reader in
            try records.map { try reader.record($0["id"]?.textID ?? "", in: table) }
        }
        for (record, found) in zip(records, read) { try expectSame(found, record, "table \(table)") }
    }

    /// Checks that the table holds exactly those records.
    static func expectRecords(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        let (count, found) = try await store.read { reader in
            let found = try records.map { try reader.record($0["id"]?.textID ?? "", in: table) }
            return (try reader.count(matching: TableQuery(table)), found)
        }
        try expect(count == records.count, "table \(table): expected \(records.count) records, found \(count)")
        for (record, found) in zip(records, found) { try expectSame(found, record, "table \(table)") }
    }
}

/// A difference between a store and the protocol ``LocalStore``.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The expectation and the result.
    public let message: String

    /// Creates a failure with that message.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}

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
                let count = try await store.read { try $0.count(matching: TableQuery(table)) }
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
            let left = try await store.read {
                try $0.records(matching: TableQuery("t")).compactMap { $0["id"]?.string }
            }
            let gone: [JSON] = ["a", "a\u{0}b", "\u{E9}"]
            let expected = ConformanceRecords.ids.map { JSON($0) }.filter { !gone.contains($0) }
            try expect(Set(left.map { JSON($0) }) == Set(expected), "expected \(expected), found \(left)")
        },
        Check("a table that does not exist holds nothing") { store in
            try await store.read { reader in
                try expect(try reader.record("1", in: "none") == nil, "a record was found")
                try expect(try reader.records(matching: TableQuery("none")).isEmpty, "records were found")
                try expect(try reader.count(matching: TableQuery("none")) == 0, "records were counted")
            }
        },
    ]
}
