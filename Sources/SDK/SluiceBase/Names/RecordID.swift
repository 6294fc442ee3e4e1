/// The id of a record: a text, or in older tables an integer.
///
/// ```swift
/// let id: RecordID = "id-007"
/// let old: RecordID = 7
/// ```
///
/// Two ids are equal only if their bytes are: the composed and the decomposed form of a letter name two records. A
/// `String` or an `Int` also works as an id argument: see ``RecordIDConvertible``.
public enum RecordID: Sendable, Hashable {
    /// A text of 1 to 255 characters, as in all present tables.
    case string(String)
    /// A positive integer, as in some tables of Mobile Services.
    case integer(Int64)

    /// The id in a request's path and in errors, before any encoding.
    public var text: String {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        }
    }

    /// Whether the id has no character, which no record's id allows.
    package var isEmpty: Bool { self == .string("") }

    /// Whether both are texts of the same bytes, or the same integer.
    public static func == (left: RecordID, right: RecordID) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.integer(let left), .integer(let right)): left == right
        default: false
        }
    }

    /// Whether both name the same record: the same bytes, or the same GUID in letters of either case. Databases with a
    /// GUID type write them in one case; a record then takes the server's spelling.
    package func isSame(as other: RecordID) -> Bool {
        self == other || caseless == other.caseless
    }

    /// The id with a GUID in small letters: equal for two ids of the same record.
    package var caseless: RecordID {
        guard case .string(let text) = self, text.isGUID else { return self }
        return .string(text.lowercased())
    }

    /// The id, and a GUID in small letters and in capitals.
    package var spellings: [RecordID] {
        guard case .string(let text) = self, text.isGUID else { return [self] }
        return [self] + [text.lowercased(), text.uppercased()].map { .string($0) }.filter { $0 != self }
    }

    /// Adds the text's bytes, or the integer, to the hash.
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

    /// Orders integers first, by value, and then texts by their bytes.
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

/// A type that can serve as a record's id: `String`, `Int`, `Int64` or ``RecordID``.
///
/// Conform a type of your own, and every call with an id argument accepts it.
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

extension Optional: RecordIDConvertible where Wrapped: RecordIDConvertible {
    /// The id; that of nil is empty, and no record has it.
    public var recordID: RecordID { self?.recordID ?? .string("") }
}

extension Int64: RecordIDConvertible {
    /// The integer as an id.
    public var recordID: RecordID { .integer(self) }
}

extension String {
    /// Whether the text is a GUID in the usual form: 8, 4, 4, 4 and 12 hexadecimal digits with hyphens between them.
    package var isGUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { index, byte in
                if index == 8 || index == 13 || index == 18 || index == 23 { return byte == UInt8(ascii: "-") }
                return byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
            }
    }
}
