/// Makes typed records of documents.
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
/// the property. A list, a set or a dictionary that the document lacks is empty. A property of type ``JSON``, ``JSONNumber`` or ``Timestamp`` takes the value as it is. A point in time
/// is best declared as ``Timestamp``. Foundation's `Date` is read as the text of a time too, but only where
/// SluicePredicate (or Sluice, which has it) is part of the program; without, it codes itself as seconds since 2001,
/// which no server sends.
public struct JSONRecordDecoder: Sendable {
    /// What the decoder hands to types that ask for it.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// A decoder.
    public init() {}

    /// Makes a `Value` of `document`.
    ///
    /// - Throws: `DecodingError` with the path of the member that is missing or does not fit, and what the type throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from document: JSON) throws -> Value {
        try JSONValueDecoder(value: document, codingPath: [], userInfo: userInfo).read(type)
    }
}
