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

    /// A constant of the form `datetime'…'`, after its name.
    mutating func prefixedLiteral(_ prefix: String, at place: Int) throws(QuerySyntaxError) -> QueryLiteral {
        let text = try quoted()
        switch prefix {
        case "datetime", "datetimeoffset":
            guard let date = Timestamp(text) else { throw error("\"\(text)\" is not a date", at: place) }
            return .date(date)
        case "guid":
            guard Self.isGUID(text) else { throw error("\"\(text)\" is not a GUID", at: place) }
            return .guid(text)
        case "time":
            guard let time = Self.duration(text) else { throw error("\"\(text)\" is not a time of day", at: place) }
            return .timeOfDay(time)
        case "geography":
            guard let point = Self.point(text) else { throw error("\"\(text)\" is not a place", at: place) }
            return .point(point)
        default: throw error("there are no constants of the form \(prefix)'…'", at: place)
        }
    }

    /// `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, after the parenthesis: a constant and its type.
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
        case "Edm.DateTimeOffset", "Edm.DateTime": Timestamp(text).map(QueryLiteral.date)
        case "Edm.Date": Timestamp(text).map { .day($0.beginningOfDay) }
        case "Edm.TimeOfDay", "Edm.Time": Timestamp(timeOfDay: text).map(QueryLiteral.timeOfDay)
        case "Edm.Guid": isGUID(text) ? .guid(text) : nil
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
        if let time = Timestamp(timeOfDay: word) { return .timeOfDay(time) }
        if isGUID(word) { return .guid(word) }
        if let date = Timestamp(word) { return word.utf8.count == 10 ? .day(date) : .date(date) }
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

    /// A time of day as v3 writes it: `PT18H33M45.876S`, without the parts that are zero.
    private static func duration(_ text: String) -> Timestamp? {
        guard text.hasPrefix("PT") else { return nil }
        var parts = ["H": "00", "M": "00", "S": "00"]
        var left: Substring = "HMS"
        var number = ""
        for character in text.dropFirst(2) {
            if let place = left.firstIndex(of: character), !number.isEmpty {
                // `5` and `5.25` with two digits before the point.
                let whole = number.prefix { $0 != "." }
                parts[String(character)] = (whole.count == 1 ? "0" : "") + number
                left = left[left.index(after: place)...]
                number = ""
            } else {
                number.append(character)
            }
        }
        guard number.isEmpty, left.count < 3 else { return nil }
        return Timestamp(timeOfDay: ["H", "M", "S"].compactMap { parts[$0] }.joined(separator: ":"))
    }

    /// `POINT(13.4 52.5)`, with `SRID=4326;` before it or not. (OData v4.01 ABNF, fullPointLiteral.)
    private static func point(_ text: String) -> GeographyPoint? {
        var rest = text.lowercased()[...]
        if rest.hasPrefix("srid=4326;") { rest = rest.dropFirst(10) }
        guard rest.hasPrefix("point"), rest.hasSuffix(")") else { return nil }
        rest = rest.dropFirst(5).drop { $0 == " " }
        guard rest.hasPrefix("(") else { return nil }
        let coordinates = rest.dropFirst().dropLast().split(separator: " ").map { JSONNumber(text: String($0)) }
        guard (2...3).contains(coordinates.count), let longitude = coordinates[0], let latitude = coordinates[1] else {
            return nil
        }
        return GeographyPoint(longitude: longitude.double, latitude: latitude.double)
    }

    static func isGUID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isHex = { (byte: UInt8) in isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }
        return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy(isHex)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
