/// The member names of one object while it is read, to find a repeated one.
///
/// The names of a short object are compared on the tape itself, so that a row needs no memory of its own. The names of
/// a long object are hashed, so that a hostile object cannot cost the square of its length.
struct JSONMemberNames {
    private static let comparedCount = 24

    private let object: Int
    private var count = 0
    /// A bit for each name so far; a name with an unset bit is new.
    private var seen: UInt64 = 0
    private var hasEscapes = false
    private var hashed: Set<[UInt8]> = []

    init(object: Int) { self.object = object }

    /// Adds the name at `key`, the last token so far, and returns it if it is repeated.
    mutating func insert(
        _ key: Int, _ tokens: ContiguousArray<JSONTape.Token>, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> String? {
        let token = tokens[key]
        defer { count += 1 }
        hasEscapes = hasEscapes || token.flag
        if !hasEscapes, count < Self.comparedCount {
            let bit: UInt64 = 1 << (Self.mix(token, bytes) & 63)
            defer { seen |= bit }
            if seen & bit == 0 { return nil }
        }
        if count < Self.comparedCount { return repeated(key, tokens, bytes) }
        if count == Self.comparedCount {
            var earlier = object + 1
            while earlier < key {
                hashed.insert(Self.name(tokens[earlier], bytes))
                earlier = Int(tokens[earlier].next)
            }
        }
        let name = Self.name(token, bytes)
        return hashed.insert(name).inserted ? nil : String(decoding: name, as: UTF8.self)
    }

    private func repeated(
        _ key: Int, _ tokens: ContiguousArray<JSONTape.Token>, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> String? {
        let token = tokens[key]
        let length = token.end - token.start
        var earlier = object + 1
        while earlier < key {
            let other = tokens[earlier]
            let isEqual =
                if token.flag || other.flag {
                    Self.name(token, bytes) == Self.name(other, bytes)
                } else {
                    other.end - other.start == length
                        && JSONText.equal(bytes, Int(other.start), Int(token.start), count: Int(length))
                }
            if isEqual { return String(decoding: Self.name(token, bytes), as: UTF8.self) }
            earlier = Int(other.next)
        }
        return nil
    }

    /// Returns a number from a name's length and three of its bytes: enough to distinguish a table's columns.
    @inline(__always)
    private static func mix(_ token: JSONTape.Token, _ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let length = Int(token.end - token.start)
        guard length > 0 else { return 0 }
        let start = Int(token.start)
        let first = UInt64(bytes[start])
        let middle = UInt64(bytes[start + length / 2])
        let last = UInt64(bytes[start + length - 1])
        let mixed = (first | middle << 8 | last << 16 | UInt64(length) << 24) &* 0x9E37_79B9_7F4A_7C15
        return mixed >> 58
    }

    /// Returns the name's own bytes, its escapes decoded: JSON compares names by code points.
    private static func name(_ token: JSONTape.Token, _ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let slice = UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
        return token.flag ? Array(JSONEscape.decode(slice).utf8) : Array(slice)
    }
}
