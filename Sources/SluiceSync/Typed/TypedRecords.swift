internal import SluiceBase
internal import SluiceWire

/// Turns a table's records into values of a type, and finds them by ids in other letters.
struct TypedRecords<Record: Codable & Sendable>: Sendable {
    let table: String
    let coder: RecordCoder

    init(_ table: String, dialect: Dialect) {
        self.table = table
        coder = RecordCoder(DeclaredProperties(of: Record.self), dialect: dialect)
    }

    func value(_ document: JSON) throws(SluiceError) -> Record {
        try coder.decode(Record.self, from: document, table: table, isServers: false)
    }

    /// Those that fit the type, with their values, and an error for each of the others.
    func sorted(_ documents: [JSON]) -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        coder.sorted(Record.self, documents, table: table)
    }

    private static var lengthOfUUID: Int { 36 }

    /// The id as the store has it: a type may hold ids, as `UUID` does, whose texts differ in the case of letters.
    func stored(_ id: RecordID, in store: some StoreReader) throws -> RecordID {
        func record(_ id: RecordID) throws -> JSON? {
            if let record = try store.record(id, in: table) { return record }
            let state = try QueueReader(store).state(of: id, in: table)
            return state?.mirror ?? state?.base
        }
        guard case .string(let text) = id, text.utf8.count == Self.lengthOfUUID, try record(id) == nil else {
            return id
        }
        for other in [RecordID(text.lowercased()), RecordID(text.uppercased())] {
            if let record = try record(other), coder.takes(id, forThatOf: record, Record.self) { return other }
        }
        return id
    }
}
