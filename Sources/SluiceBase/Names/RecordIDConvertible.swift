/// What can stand for a record's id: a `String`, an `Int`, an `Int64` or a ``RecordID``.
///
/// Conform a type of your own, and every call that asks for an id takes it.
public protocol RecordIDConvertible: Sendable {
    /// The id.
    var recordID: RecordID { get }
}

extension RecordID: RecordIDConvertible {
    /// The id itself.
    public var recordID: RecordID { self }
}

extension String: RecordIDConvertible {
    /// The text as an id.
    public var recordID: RecordID { .string(self) }
}

extension Int: RecordIDConvertible {
    /// The integer as an id.
    public var recordID: RecordID { .integer(Int64(self)) }
}

extension Int64: RecordIDConvertible {
    /// The integer as an id.
    public var recordID: RecordID { .integer(self) }
}
