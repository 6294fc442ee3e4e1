/// Encodes typed records as documents.
///
/// ```swift
/// let document = try JSONRecordEncoder().encode(Movie(id: "id-000", year: 1994))
/// String(describing: document)     // {"id":"id-000","year":1994}
/// ```
///
/// Members keep the order in which the type writes them. Integers are exact to their full width; a `Float` is written
/// by its own digits. ``JSON`` and ``JSON.Number`` values stay exact.
public struct JSONRecordEncoder: Sendable {
    /// The values that encoded types can read from their encoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Whether a property that is nil is written as null. Default false: it is left out, as Codable types do.
    public var writesNulls = false

    /// Creates an encoder.
    public init() {}

    /// Encodes `value` as a document.
    ///
    /// - Throws: `EncodingError` for a double that is infinite or NaN, a member name with a NUL character, nesting
    ///   beyond ``JSON/maximumDepth``, and a type that writes nothing; or the type's own error.
    public func encode(_ value: some Encodable) throws -> JSON {
        let node = JSONEncodingNode()
        var userInfo = userInfo
        if writesNulls, let key = JSONValueEncoder.nullsKey { userInfo[key] = true }
        let encoder = JSONValueEncoder(node: node, codingPath: [], userInfo: userInfo)
        try encoder.write(value)
        guard let document = try node.finish() else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "\(type(of: value)) wrote no value"))
        }
        return document
    }
}

/// Decodes typed records from documents.
///
/// ```swift
/// struct Movie: Codable {
///     var id: String
///     var year: Int
/// }
/// let movie = try JSONRecordDecoder().decode(Movie.self, from: ["id": "id-000", "year": 1994])
/// ```
///
/// Integers are exact to their full width, `UInt64` too; a number that does not fit its property is an error that names
/// the property. A list, a set or a dictionary that the document lacks is empty. A property of type ``JSON``,
/// ``JSON.Number`` or ``Timestamp`` takes the exact value. Declare a point in time as ``Timestamp``. Foundation's `Date`
/// is also read from the text of a time, but only if SluicePredicate (or Sluice, which includes it) is part of the
/// program. Without it, `Date` codes itself as seconds since 2001, which no server sends.
public struct JSONRecordDecoder: Sendable {
    /// The values that decoded types can read from their decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    public init() {}

    /// Decodes a `Value` from `document`.
    ///
    /// - Throws: `DecodingError` with the path of the missing or unfit member, or the type's own error.
    public func decode<Value: Decodable>(_ type: Value.Type, from document: JSON) throws -> Value {
        try JSONValueDecoder(value: document, codingPath: [], userInfo: userInfo).read(type)
    }
}

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
