/// A value that Sluice prints as JSON by its coding keys, in their order.
/// A type with the keys `table` and `record` is printed as `{"table":"movies","record":null}`.
package protocol JSONPrinted: Encodable {}

extension JSONPrinted {
    /// The value as it is printed.
    package var json: JSON { JSON(printing: self) }
}

extension JSON {
    /// Creates the form in which Sluice prints `value`: nil is null, a time has seven fraction digits, and sets and
    /// dictionaries are in the order of their texts and names. `null` for a value that JSON cannot express.
    package init(printing value: some Encodable) {
        var encoder = JSONRecordEncoder()
        encoder.writesNulls = true
        if let key = JSONValueEncoder.printingKey { encoder.userInfo[key] = true }
        self = (try? encoder.encode(value)) ?? .null
    }
}

extension JSONValueEncoder {
    static let printingKey = CodingUserInfoKey(rawValue: "sluice.printing")
    private var isPrinting: Bool { Self.printingKey.map { sharedInfo[$0] != nil } ?? false }

    /// Writes a value by its own conformance, but a time or a collection without an order as Sluice prints it.
    func writeMembers(of value: some Encodable) throws {
        guard isPrinting else { return try value.encode(to: self) }
        if let time = value as? Timestamp { return node.set(JSON(time.description)) }
        try value.encode(to: self)
        if value is any JSONUnordered { node.sort() }
    }
}

/// A collection whose own order differs from run to run.
private protocol JSONUnordered {}

extension Set: JSONUnordered {}
extension Dictionary: JSONUnordered {}
