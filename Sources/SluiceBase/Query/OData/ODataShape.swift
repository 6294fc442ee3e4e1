/// The text of a place or a shape: `SRID=0;Polygon((1 1,2 2,3 3,1 1))`. (OData v4.01 ABNF, 7.)
enum ODataShape {
    /// Whether the text is one.
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

        /// Two to four numbers.
        mutating func position() -> Bool {
            var count = 0
            while count < 4 {
                skipSpace()
                let digits = rest.prefix {
                    $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ")")
                }
                guard JSONNumber(text: String(decoding: digits, as: UTF8.self)) != nil else { break }
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
