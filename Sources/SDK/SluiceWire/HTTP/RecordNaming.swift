package import SluiceBase

/// A transport for another wire that knows the id of a record there before it is created.
package protocol RecordNaming: Transport {
    /// Returns the name of a new record; nil until the server's description of the table has been read. A request for
    /// ``RecordName/path`` below the table's address makes the transport read it.
    func name(ofNew record: JSON, called id: RecordID, in table: String) -> RecordName?
}

/// The new name of a record.
package struct RecordName: Sendable, Hashable {
    /// The last segment of the address of a table's description.
    package static let path = "$key"

    /// The record's id.
    package var id: RecordID
    /// The key as the value of a property.
    package var key: JSON

    package init(_ id: RecordID, key: JSON) {
        self.id = id
        self.key = key
    }
}
