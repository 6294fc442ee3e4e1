/// The id of a record: a text, or in older tables an integer.
///
/// ```swift
/// let id: RecordID = "id-007"
/// let old: RecordID = 7
/// ```
///
/// Where an id is asked for, a `String` or an `Int` will do as well: see ``RecordIDConvertible``.
public enum RecordID: Sendable, Hashable {
    /// A text, as all tables of today have it: 1 to 255 characters.
    case string(String)
    /// A positive integer, as tables of Mobile Services may have it.
    case integer(Int64)

    /// The id as it stands in a request's path and in an error, before any encoding.
    public var text: String {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        }
    }

    /// The id as a record holds it.
    package var json: JSON {
        switch self {
        case .string(let text): JSON(text)
        case .integer(let number): JSON(number)
        }
    }
}

extension RecordID: CustomStringConvertible {
    /// The id's text.
    public var description: String { text }
}

extension RecordID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension RecordID: Codable {
    /// Reads a text or an integer.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else {
            self = .integer(try container.decode(Int64.self))
        }
    }

    /// Writes the text or the integer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        }
    }
}
