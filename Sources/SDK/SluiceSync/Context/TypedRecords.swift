internal import SluiceBase
internal import SluiceWire

/// Turns a table's records into values of a type.
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

    /// Returns the records that fit the type, with their values, and an error for each other record.
    func sorted(_ documents: [JSON]) -> (fitting: [JSON], records: [Record], misfits: [SluiceError]) {
        coder.sorted(Record.self, documents, table: table)
    }
}
