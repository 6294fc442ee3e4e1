// The constants of both generations of OData. (OData v2 overview, 6; OData v4.01 ABNF, 7; v3's suffixes L, M, f and d.)
extension ODataScanner {
    /// Reads a constant that begins with a quote, a digit or a sign.
    ///
    /// - Parameter isBeforeColon: whether a colon may end it.
    mutating func literal(isBeforeColon: Bool = false) throws(TableQuery.SyntaxError) -> TableQuery.Literal {
        if next == "'" { return .string(try quoted()) }
        let start = position
        let word = bareWord()
        if let literal = Self.literal(bare: word) { return literal }
        if isBeforeColon {
            var rest = word[...]
            while let colon = rest.lastIndex(of: ":") {
                rest = rest[..<colon]
                if let literal = Self.literal(bare: String(rest)) {
                    goBack(to: start + rest.unicodeScalars.count)
                    return literal
                }
            }
        }
        throw error("\"\(word)\" is neither a number nor a date", at: start)
    }

    /// Reads a constant of the form `datetime'…'`, after its name.
    mutating func prefixedLiteral(_ prefix: String, at place: Int) throws(TableQuery.SyntaxError) -> TableQuery.Literal
    {
        let text = try quoted()
        func refused(_ kind: String) -> TableQuery.SyntaxError { error("\"\(text)\" is not \(kind)", at: place) }
        switch prefix.lowercased() {
        case "datetime", "datetimeoffset":
            guard let date = Timestamp(text) else { throw refused("a date") }
            return .date(date)
        case "date":
            guard text.utf8.count == 10, let date = Timestamp(text) else { throw refused("a date") }
            return .day(date)
        case "timeofday":
            guard let time = Timestamp(timeOfDay: text) else { throw refused("a time of day") }
            return .timeOfDay(time)
        case "guid":
            guard text.isGUID else { throw refused("a GUID") }
            return .guid(text)
        case "time":
            guard let time = Self.timeOfDay(duration: text) else { throw refused("a time of day") }
            return .timeOfDay(time)
        case "duration":
            guard let ticks = QueryDuration.ticks(text) else { throw refused("a duration") }
            return .duration(ticks)
        case "binary":
            guard Self.isBase64(text) else { throw refused("base64") }
            return .binary(text)
        case "x":
            throw error("bytes are written as binary'…', in base64", at: place)
        case "geography", "geometry":
            let kind = prefix.lowercased()
            if kind == "geography", let point = Self.point(text) { return .point(point) }
            guard ODataShape.isValid(text) else { throw refused("a place") }
            return .shape(kind: kind, text: text)
        default: throw error("there are no constants of the form \(prefix)'…'", at: place)
        }
    }

    /// Reads `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, after the parenthesis: a constant and its type.
    /// Returns nil if the type is not one of Edm's.
    mutating func castLiteral(at place: Int) throws(TableQuery.SyntaxError) -> TableQuery.Literal? {
        skipSpace()
        let text = next == "'" ? try quoted() : bareWord()
        skipSpace()
        guard skip(",") else { return nil }
        skipSpace()
        guard let type = typeName(), type.hasPrefix("Edm.") else { return nil }
        try expect(")")
        guard let literal = Self.literal(text, ofType: type) else {
            throw error("\"\(text)\" is no constant of type \(type)", at: place)
        }
        return literal
    }

    private mutating func bareWord() -> String {
        run { $0.isASCII && (Self.continuesIdentifier($0) || "-+.:".unicodeScalars.contains($0)) }
    }

    /// Returns a text as a constant of one of Edm's types; nil if it does not fit.
    private static func literal(_ text: String, ofType type: String) -> TableQuery.Literal? {
        switch type {
        case "Edm.DateTimeOffset", "Edm.DateTime": Timestamp(text).map(TableQuery.Literal.date)
        case "Edm.Date": Timestamp(text).map { .day($0.beginningOfDay) }
        case "Edm.TimeOfDay", "Edm.Time": Timestamp(timeOfDay: text).map(TableQuery.Literal.timeOfDay)
        case "Edm.Duration": QueryDuration.ticks(text).map(TableQuery.Literal.duration)
        case "Edm.Guid": text.isGUID ? .guid(text) : nil
        case "Edm.String": .string(text)
        case "Edm.Boolean": text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
        case "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64":
            number(text).flatMap { $0.int == nil ? nil : .number($0) }
        case "Edm.Double", "Edm.Single", "Edm.Decimal": number(text).map { .number(real($0)) }
        default: nil
        }
    }

    private static func literal(bare word: String) -> TableQuery.Literal? {
        if let number = number(word) { return .number(number) }
        if let time = Timestamp(timeOfDay: word) { return .timeOfDay(time) }
        if word.isGUID { return .guid(word) }
        if let date = Timestamp(word) { return word.utf8.count == 10 ? .day(date) : .date(date) }
        guard let suffix = word.last, let number = number(String(word.dropLast())) else { return nil }
        switch suffix {
        case "L", "l": return number.int == nil ? nil : .number(number)
        case "M", "m", "F", "f", "D", "d": return .number(real(number))
        default: return nil
        }
    }

    /// Reads a number by JSON's grammar, and also accepts leading zeros and a plus sign.
    private static func number(_ text: String) -> JSON.Number? {
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.hasPrefix("+") ? text.dropFirst() : text.dropFirst(sign.count)
        let zeros = digits.prefix { $0 == "0" }.count
        let rest = digits.dropFirst(zeros)
        let needsZero = zeros > 0 && !(rest.first?.isNumber ?? false)
        return JSON.Number(text: sign + (needsZero ? "0" : "") + rest)
    }

    /// Returns the number as a non-integer: `10M div 4` is 2.5.
    private static func real(_ number: JSON.Number) -> JSON.Number {
        guard case .int(let value) = number.storage else { return number }
        return Int64(exactly: Double(value)) == value ? JSON.Number(Double(value)) ?? number : number
    }

    /// Reads v3's form of a time of day: `PT18H33M45.876S`, without the parts that are zero.
    private static func timeOfDay(duration text: String) -> Timestamp? {
        guard text.hasPrefix("PT"), let ticks = QueryDuration.ticks(text) else { return nil }
        let day = 86_400 * Timestamp.ticksPerSecond
        return (0..<day).contains(ticks) ? Timestamp(ticks: ticks) : nil
    }

    /// Reads `POINT(13.4 52.5)`, with or without `SRID=4326;` before it. (OData v4.01 ABNF, fullPointLiteral.)
    private static func point(_ text: String) -> GeographyPoint? {
        var rest = text.lowercased()[...]
        if rest.hasPrefix("srid=4326;") { rest = rest.dropFirst(10) }
        guard rest.hasPrefix("point"), rest.hasSuffix(")") else { return nil }
        rest = rest.dropFirst(5).drop { $0 == " " }
        guard rest.hasPrefix("(") else { return nil }
        let coordinates = rest.dropFirst().dropLast().split(separator: " ").map { JSON.Number(text: String($0)) }
        guard (2...3).contains(coordinates.count), let longitude = coordinates[0], let latitude = coordinates[1] else {
            return nil
        }
        return GeographyPoint(longitude: longitude.double, latitude: latitude.double)
    }

    /// Whether the text lists members of an enumeration, by name or number, with commas between them.
    static func isEnumeration(_ text: String) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { member in
            var scalars = member.unicodeScalars[...]
            if let first = scalars.first, first == "-" || first == "+" { scalars = scalars.dropFirst() }
            guard let first = scalars.first else { return false }
            if isDigit(first) { return scalars.allSatisfy(isDigit) }
            return beginsIdentifier(first) && scalars.allSatisfy(continuesIdentifier)
        }
    }

    /// Whether the text is base64 in either alphabet, with or without padding.
    private static func isBase64(_ text: String) -> Bool {
        let content = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.count - content.count
        return content.allSatisfy { byte in
            isDigit(byte) || (byte | 0x20) &- 0x61 < 26 || [0x2B, 0x2D, 0x2F, 0x5F].contains(byte)
        } && content.count % 4 != 1 && text.utf8.dropFirst(content.count).allSatisfy { $0 == 0x3D }
            && (padding == 0 || (padding < 3 && (content.count + padding) % 4 == 0))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}

/// The text of a place or a shape: `SRID=0;Polygon((1 1,2 2,3 3,1 1))`. (OData v4.01 ABNF, 7.)
enum ODataShape {
    /// Returns whether the text is a valid shape.
    static func isValid(_ text: String) -> Bool {
        var rest = Array(text.lowercased().utf8)[...]
        if rest.starts(with: "srid=".utf8) {
            rest = rest.dropFirst(5)
            let digits = rest.prefix { $0 &- 0x30 < 10 }
            guard (1...5).contains(digits.count), rest.dropFirst(digits.count).first == UInt8(ascii: ";") else {
                return false
            }
            rest = rest.dropFirst(digits.count + 1)
        }
        var reader = Reader(rest: rest)
        return reader.shape(depth: 0) && reader.rest.isEmpty
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func shape(depth: Int) -> Bool {
            guard depth < 8 else { return false }
            let name = String(decoding: rest.prefix { $0 &- 0x61 < 26 }, as: UTF8.self)
            rest = rest.dropFirst(name.utf8.count)
            skipSpace()
            return switch name {
            case "point": list(mayBeEmpty: false) { $0.position() }
            case "linestring": list(mayBeEmpty: false) { $0.position() }
            case "multipoint": list(mayBeEmpty: true) { $0.positions() }
            case "polygon": list(mayBeEmpty: false) { $0.positions() }
            case "multilinestring": list(mayBeEmpty: true) { $0.positions() }
            case "multipolygon": list(mayBeEmpty: true) { $0.list(mayBeEmpty: false) { $0.positions() } }
            case "geometrycollection", "collection": list(mayBeEmpty: true) { $0.shape(depth: depth + 1) }
            default: false
            }
        }

        mutating func positions() -> Bool { list(mayBeEmpty: false) { $0.position() } }

        mutating func list(mayBeEmpty: Bool, _ element: (inout Reader) -> Bool) -> Bool {
            guard skip("(") else { return false }
            if mayBeEmpty && skip(")") { return true }
            repeat {
                skipSpace()
                guard element(&self) else { return false }
            } while skip(",")
            return skip(")")
        }

        /// Reads two to four numbers.
        mutating func position() -> Bool {
            var count = 0
            while count < 4 {
                skipSpace()
                let digits = rest.prefix {
                    $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ")")
                }
                guard JSON.Number(text: String(decoding: digits, as: UTF8.self)) != nil else { break }
                rest = rest.dropFirst(digits.count)
                count += 1
            }
            skipSpace()
            return count >= 2
        }

        mutating func skipSpace() { rest = rest.drop { $0 == UInt8(ascii: " ") } }

        mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: scalar) else { return false }
            rest = rest.dropFirst()
            return true
        }
    }
}
