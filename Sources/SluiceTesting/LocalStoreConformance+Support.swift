internal import SluiceCore

extension LocalStoreConformance {
    /// - Throws: ``ConformanceFailure`` unless `condition` holds.
    static func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(message()) }
    }

    /// - Throws: ``ConformanceFailure`` unless both records print the same, in any order of members: `1.10`
    ///   is not `1.1` here.
    static func expectSame(_ found: JSON?, _ expected: JSON?, _ place: String) throws {
        let (found, expected) = (found.map(canonical), expected.map(canonical))
        try expect(
            found.map { Array($0.utf8) } == expected.map { Array($0.utf8) },
            "\(place): expected \(expected ?? "nothing"), found \(found ?? "nothing")")
    }

    /// - Throws: ``ConformanceFailure`` unless `body` throws a ``SluiceError`` of that code.
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

    /// The value as text with members in the order of their names.
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

    /// Puts the records, and checks that each comes back by its id as it was.
    static func roundTrip(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        try await store.write { writer in for record in records { try writer.put(record, in: table) } }
        let read = try await store.read { reader in
            try records.map { try reader.record($0["id"]?.textID ?? "", in: table) }
        }
        for (record, found) in zip(records, read) { try expectSame(found, record, "table \(table)") }
    }

    /// The table holds those records and no other.
    static func expectRecords(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        let (count, found) = try await store.read { reader in
            let found = try records.map { try reader.record($0["id"]?.textID ?? "", in: table) }
            return (try reader.count(matching: Query(table)), found)
        }
        try expect(count == records.count, "table \(table): expected \(records.count) records, found \(count)")
        for (record, found) in zip(records, found) { try expectSame(found, record, "table \(table)") }
    }
}

/// What a conformance check found to be otherwise than the protocol says.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected and what was found.
    public let message: String

    /// A failure.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
