/// The strict reader of ``JSONTape``: one pass over the bytes, no recursion beyond the nesting limit.
struct JSONTapeReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumValues: Int
    private let maximumDepth: Int
    private let isLenient: Bool
    private var position = 0
    /// The faults that were passed over, in source order.
    private(set) var faults: [JSONFault] = []
    /// The deepest nesting so far; one more than the limit where deeper values were skipped.
    private(set) var deepest = 0
    var tokens = ContiguousArray<JSONTape.Token>()

    init(
        _ bytes: UnsafeBufferPointer<UInt8>, maximumValues: Int = .max, maximumDepth: Int = JSON.maximumDepth,
        isLenient: Bool = false
    ) {
        self.bytes = bytes
        self.maximumValues = maximumValues
        self.maximumDepth = maximumDepth
        self.isLenient = isLenient
        // About one token for each 12 bytes of usual rows.
        tokens.reserveCapacity(min(bytes.count / 12, maximumValues) + 8)
    }

    mutating func readDocument() throws(JSON.ParseError) {
        skipSpace()
        try readValue(depth: 0)
        skipSpace()
        if position < bytes.count { throw failure("unexpected text after the value") }
    }

    private func failure(_ reason: String, at offset: Int? = nil) -> JSON.ParseError {
        JSON.ParseError(reason: reason, offset: offset ?? position, in: bytes)
    }

    @inline(__always)
    private func peek() -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @inline(__always)
    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func readValue(depth: Int) throws(JSON.ParseError) {
        guard let byte = peek() else { throw failure("unexpected end of text") }
        guard tokens.count < maximumValues else {
            throw JSON.ParseError(
                reason: "more than \(maximumValues) names and values", offset: position, in: bytes, isTooLarge: true)
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            deepest = max(deepest, depth + 1)
            if depth >= maximumDepth, isLenient { return try skipContainer() }
            if byte == UInt8(ascii: "{") { try readObject(depth: depth + 1) } else { try readArray(depth: depth + 1) }
        default: try readScalar(byte)
        }
    }

    private mutating func readScalar(_ byte: UInt8) throws(JSON.ParseError) {
        switch byte {
        case UInt8(ascii: "\""): try readString(.string)
        case UInt8(ascii: "t"): try readWord("true", kind: .bool, flag: true)
        case UInt8(ascii: "f"): try readWord("false", kind: .bool, flag: false)
        case UInt8(ascii: "n"): try readWord("null", kind: .null, flag: false)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
        default: try readOther(failure("unexpected \(describe(byte))"))
        }
    }

    /// Reads a word or number that JSON does not have, if the reading is lenient.
    private mutating func readOther(_ failure: JSON.ParseError) throws(JSON.ParseError) {
        var end = position
        while end < bytes.count, Self.isOfWord(bytes[end]) { end += 1 }
        guard isLenient, end > position, end < bytes.count else { throw failure }
        faults.append(JSONFault(kind: .word, start: UInt32(position)))
        append(.null, flag: false, length: end - position)
    }

    /// Whether the byte may be part of a word or number of another language.
    @inline(__always)
    static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private func describe(_ byte: UInt8) -> String {
        (0x21...0x7E).contains(byte) ? "“\(Character(Unicode.Scalar(byte)))”" : "byte 0x\(String(byte, radix: 16))"
    }

    /// Appends a container's token without its end, and returns the token's index.
    private mutating func open(_ kind: JSONTape.Kind, depth: Int) throws(JSON.ParseError) -> Int {
        guard depth <= maximumDepth else { throw failure("nested deeper than \(maximumDepth) levels") }
        tokens.append(.init(kind: kind, flag: false, start: UInt32(position), end: 0, next: 0))
        position += 1
        skipSpace()
        return tokens.count - 1
    }

    private mutating func close(_ index: Int) {
        position += 1
        tokens[index].end = UInt32(position)
        tokens[index].next = UInt32(tokens.count)
    }

    /// Reads a container beyond the nesting limit without recursion, and keeps one token of it. Repeated names in it
    /// are not detected.
    private mutating func skipContainer() throws(JSON.ParseError) {
        let index = tokens.count
        tokens.append(.init(kind: .deep, flag: false, start: UInt32(position), end: 0, next: UInt32(index + 1)))
        var closers: [UInt8] = []
        repeat {
            guard let byte = peek() else { throw failure("unexpected end of text") }
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                closers.append(byte == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                position += 1
                skipSpace()
                if peek() != closers.last {
                    if byte == UInt8(ascii: "{") { try skipName() }
                    continue
                }
            } else {
                try readScalar(byte)
                tokens.removeLast()
            }
            try skipClosers(&closers)
        } while !closers.isEmpty
        tokens[index].end = UInt32(position)
    }

    /// Moves to the next value of the open containers, past the ends of finished ones.
    private mutating func skipClosers(_ closers: inout [UInt8]) throws(JSON.ParseError) {
        while let closer = closers.last {
            skipSpace()
            switch peek() {
            case closer:
                position += 1
                closers.removeLast()
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
                return closer == UInt8(ascii: "}") ? try skipName() : ()
            case nil: throw failure("unexpected end of text")
            case let byte?: throw failure("expected “,” or an end, found \(describe(byte))")
            }
        }
    }

    private mutating func skipName() throws(JSON.ParseError) {
        guard peek() == UInt8(ascii: "\"") else { throw failure("expected a member name") }
        try readString(.key)
        tokens.removeLast()
        skipSpace()
        guard peek() == UInt8(ascii: ":") else { throw failure("expected “:” after a member name") }
        position += 1
        skipSpace()
    }

    private mutating func readArray(depth: Int) throws(JSON.ParseError) {
        let index = try open(.array, depth: depth)
        if peek() == UInt8(ascii: "]") { return close(index) }
        while true {
            try readValue(depth: depth)
            skipSpace()
            switch peek() {
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
            case UInt8(ascii: "]"): return close(index)
            case nil: throw failure("unexpected end of text in an array")
            case let byte?: throw failure("expected “,” or “]”, found \(describe(byte))")
            }
        }
    }

    private mutating func readObject(depth: Int) throws(JSON.ParseError) {
        let index = try open(.object, depth: depth)
        if peek() == UInt8(ascii: "}") { return close(index) }
        var names = JSONMemberNames(object: index)
        while true {
            guard let quote = peek() else { throw failure("unexpected end of text in an object") }
            guard quote == UInt8(ascii: "\"") else { throw failure("expected a member name, found \(describe(quote))") }
            let key = tokens.count
            try readString(.key)
            if let repeated = names.insert(key, tokens, bytes) {
                guard isLenient else {
                    throw failure("repeated member name \"\(repeated)\"", at: Int(tokens[key].start) - 1)
                }
                faults.append(JSONFault(kind: .name, start: tokens[key].start))
            }
            skipSpace()
            guard peek() == UInt8(ascii: ":") else { throw failure("expected “:” after a member name") }
            position += 1
            skipSpace()
            try readValue(depth: depth)
            tokens[key].next = UInt32(tokens.count)
            skipSpace()
            switch peek() {
            case UInt8(ascii: ","):
                position += 1
                skipSpace()
            case UInt8(ascii: "}"): return close(index)
            case nil: throw failure("unexpected end of text in an object")
            case let byte?: throw failure("expected “,” or “}”, found \(describe(byte))")
            }
        }
    }

    private mutating func readWord(
        _ word: StaticString, kind: JSONTape.Kind, flag: Bool
    ) throws(JSON.ParseError) {
        let length = word.utf8CodeUnitCount
        guard bytes.count - position >= length,
            UnsafeBufferPointer(rebasing: bytes[position..<position + length])
                .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: length)),
            !isLenient || !goesOn(at: position + length)
        else { return try readOther(failure("unknown word")) }
        append(kind, flag: flag, length: length)
    }

    /// Whether a word or number goes on there.
    private func goesOn(at index: Int) -> Bool { index < bytes.count && Self.isOfWord(bytes[index]) }

    private mutating func append(_ kind: JSONTape.Kind, flag: Bool, length: Int) {
        tokens.append(
            .init(
                kind: kind, flag: flag, start: UInt32(position), end: UInt32(position + length),
                next: UInt32(tokens.count + 1)))
        position += length
    }

    private mutating func readNumber() throws(JSON.ParseError) {
        do throws(JSON.ParseError) {
            let (end, isInexact) = try numberEnd()
            if isLenient, goesOn(at: end) { return try readOther(failure("a number with letters", at: end)) }
            append(.number, flag: isInexact, length: end - position)
        } catch {
            try readOther(error)
        }
    }

    /// Finds the end of the number at the position.
    private func numberEnd() throws(JSON.ParseError) -> (end: Int, isInexact: Bool) {
        var end = position
        var inexact = false
        func digits(from start: Int) -> Int {
            var index = start
            while index < bytes.count, bytes[index] &- 0x30 < 10 { index += 1 }
            return index
        }
        if bytes[end] == UInt8(ascii: "-") { end += 1 }
        let whole = digits(from: end)
        if whole == end { throw failure("a number without digits", at: end) }
        if bytes[end] == UInt8(ascii: "0"), whole > end + 1 { throw failure("a number with a leading zero", at: end) }
        end = whole
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            inexact = true
            let fraction = digits(from: end + 1)
            if fraction == end + 1 { throw failure("a number that ends at its point", at: fraction) }
            end = fraction
        }
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            inexact = true
            var start = end + 1
            if start < bytes.count, bytes[start] == UInt8(ascii: "+") || bytes[start] == UInt8(ascii: "-") {
                start += 1
            }
            let exponent = digits(from: start)
            if exponent == start { throw failure("a number without an exponent after its “e”", at: start) }
            end = exponent
        }
        return (end, inexact)
    }

    private mutating func readString(_ kind: JSONTape.Kind) throws(JSON.ParseError) {
        let start = position + 1
        var index = start
        var escaped = false
        var fault: JSONFault.Kind?
        while true {
            index = JSONText.plainEnd(bytes, from: index)
            guard index < bytes.count else { throw failure("unexpected end of text in a string", at: bytes.count) }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                escaped = true
                if let length = JSONEscape.length(bytes, at: index) {
                    if kind == .key, JSONEscape.isNull(bytes, at: index) {
                        guard isLenient else { throw failure("a member name with a NUL character", at: index) }
                        fault = .escape
                    }
                    index += length
                } else if isLenient {
                    let isHalf = JSONEscape.isSurrogate(bytes, at: index)
                    fault = isHalf ? .unicode : .escape
                    index += isHalf ? 6 : 1
                } else {
                    throw failure("an escape that JSON does not have", at: index)
                }
            } else if byte >= 0x80 {
                if let length = JSONText.scalarLength(bytes, at: index) {
                    index += length
                } else if isLenient {
                    fault = .unicode
                    index += 1
                } else {
                    throw failure("invalid UTF-8", at: index)
                }
            } else if isLenient {
                fault = .escape
                index += 1
            } else {
                throw failure("an unescaped control character in a string", at: index)
            }
        }
        tokens.append(
            .init(
                kind: kind, flag: escaped, start: UInt32(start), end: UInt32(index), next: UInt32(tokens.count + 1)))
        if let fault { faults.append(JSONFault(kind: fault, start: UInt32(start))) }
        position = index + 1
    }
}
