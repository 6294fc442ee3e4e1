// The constants of both generations of OData. (OData v2 overview, 6; OData v4.01 ABNF, 7; v3's suffixes L, M, f and d.)
extension ODataScanner {
    /// A constant that begins with a quote, a digit or a sign.
    mutating func literal() throws(QuerySyntaxError) -> QueryLiteral {
        if next == "'" { return .string(try quoted()) }
        let start = position
        let word = bareWord()
        guard let literal = Self.literal(bare: word) else {
            throw error("\"\(word)\" is neither a number nor a date", at: start)
        }
        return literal
    }

    /// A constant of the form `datetime'…'`, behind its name.
    mutating func prefixedLiteral(_ prefix: String, at place: Int) throws(QuerySyntaxError) -> QueryLiteral {
        let text = try quoted()
        switch prefix {
        case "datetime", "datetimeoffset":
            guard let date = Timestamp(text) else { throw error("\"\(text)\" is not a date", at: place) }
            return .date(date)
        case "guid":
            guard Self.isGUID(text) else { throw error("\"\(text)\" is not a GUID", at: place) }
            return .string(text)
        default: throw error("there are no constants of the form \(prefix)'…'", at: place)
        }
    }

    /// `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, behind the parenthesis: a constant and its type.
    mutating func castLiteral(at place: Int) throws(QuerySyntaxError) -> QueryLiteral {
        skipSpace()
        let text = next == "'" ? try quoted() : bareWord()
        try expect(",")
        skipSpace()
        let type = run { $0 == "." || Self.continuesIdentifier($0) }
        try expect(")")
        guard let literal = Self.literal(text, ofType: type) else {
            throw error("\"\(text)\" is no constant of type \(type.isEmpty ? "(none)" : type)", at: place)
        }
        return literal
    }

    private mutating func bareWord() -> String {
        run { $0.isASCII && (Self.continuesIdentifier($0) || "-+.:".unicodeScalars.contains($0)) }
    }

    private static func literal(_ text: String, ofType type: String) -> QueryLiteral? {
        switch type {
        case "Edm.DateTimeOffset", "Edm.DateTime", "Edm.Date": Timestamp(text).map(QueryLiteral.date)
        case "Edm.TimeOfDay", "Edm.Time": isTime(text) ? .string(text) : nil
        case "Edm.Guid": isGUID(text) ? .string(text) : nil
        case "Edm.String": .string(text)
        case "Edm.Boolean": text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        case "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64":
            number(text).flatMap { $0.int == nil ? nil : .number($0) }
        case "Edm.Double", "Edm.Single", "Edm.Decimal": number(text).map { .number(real($0)) }
        default: nil
        }
    }

    private static func literal(bare word: String) -> QueryLiteral? {
        if let number = number(word) { return .number(number) }
        if isTime(word) || isGUID(word) { return .string(word) }
        if let date = Timestamp(word) { return .date(date) }
        guard let suffix = word.last, let number = number(String(word.dropLast())) else { return nil }
        switch suffix {
        case "L", "l": return number.int == nil ? nil : .number(number)
        case "M", "m", "F", "f", "D", "d": return .number(real(number))
        default: return nil
        }
    }

    /// A number by JSON's grammar, zeros before it allowed.
    private static func number(_ text: String) -> JSONNumber? {
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.dropFirst(sign.count)
        let zeros = digits.prefix { $0 == "0" }.count
        let rest = digits.dropFirst(zeros)
        let needsZero = zeros > 0 && !(rest.first?.isNumber ?? false)
        return JSONNumber(text: sign + (needsZero ? "0" : "") + rest)
    }

    /// The number as one that is not an integer: `10M div 4` is 2.5.
    private static func real(_ number: JSONNumber) -> JSONNumber {
        guard case .int(let value) = number.storage else { return number }
        return Int64(exactly: Double(value)) == value ? JSONNumber(Double(value)) ?? number : number
    }

    /// A time of day, which records hold as such a text.
    private static func isTime(_ text: String) -> Bool { Timestamp(timeOfDay: text) != nil }

    private static func isGUID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isHex = { (byte: UInt8) in isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(isHex)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
