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
