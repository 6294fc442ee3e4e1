/// The id of a record: a text, or in older tables an integer.
///
/// ```swift
/// let id: RecordID = "id-007"
/// let old: RecordID = 7
/// ```
///
/// Two ids are equal only if their bytes are: the composed and the decomposed form of a letter make two records. Where
/// an id is asked for, a `String` or an `Int` will do as well: see ``RecordIDConvertible``.
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

    /// Whether it has no character, as no record's id may be.
    package var isEmpty: Bool { self == .string("") }

    /// Whether both are texts of the same bytes, or the same integer.
    public static func == (left: RecordID, right: RecordID) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.integer(let left), .integer(let right)): left == right
        default: false
        }
    }

    /// Whether both name one record: the same bytes, or the same GUID in letters of either case. Databases with a type for
    /// GUIDs write them in one case, whatever they were given; a record then takes the server's spelling.
    package func isSame(as other: RecordID) -> Bool {
        self == other || caseless == other.caseless
    }

    /// The id with a GUID in small letters: equal for ids that name one record.
    package var caseless: RecordID {
        guard case .string(let text) = self, text.isGUID else { return self }
        return .string(text.lowercased())
    }

    /// The id, and a GUID in small letters and in capitals.
    package var spellings: [RecordID] {
        guard case .string(let text) = self, text.isGUID else { return [self] }
        return [self] + [text.lowercased(), text.uppercased()].map { .string($0) }.filter { $0 != self }
    }

    /// Adds the text's bytes, or the integer.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): text.hashBytes(into: &hasher)
        case .integer(let number): hasher.combine(number)
        }
    }
}

extension RecordID: BytewiseText {
    /// A text.
    public init(_ text: String) { self = .string(text) }

    /// Integers come first, in their own order; texts in that of their bytes.
    public static func < (left: RecordID, right: RecordID) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.precedesInBytes(right)
        case (.integer(let left), .integer(let right)): left < right
        case (.integer, .string): true
        case (.string, .integer): false
        }
    }

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

extension RecordID: ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

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
