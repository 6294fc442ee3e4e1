package import SluiceBase

/// A transport that makes another wire's requests, and knows what a record is called there before it is made.
package protocol RecordNaming: Transport {
    /// The name of a new record; nil while the server's description of the table was not read. A request for
    /// ``RecordName/path`` below the table's address has it read.
    func name(ofNew record: JSON, called id: RecordID, in table: String) -> RecordName?
}

/// What a record is called from now on.
package struct RecordName: Sendable, Hashable {
    /// The last segment of the address by which a table's description is read.
    package static let path = "$key"

    /// The record's id.
    package var id: RecordID
    /// The key as a property has it.
    package var key: JSON

    package init(_ id: RecordID, key: JSON) {
        self.id = id
        self.key = key
    }
}
