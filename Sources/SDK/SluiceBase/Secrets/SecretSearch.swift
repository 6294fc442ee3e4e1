/// Finds secrets in texts, in any case and with any escapes, and hides them. The text is scanned once.
package struct SecretSearch: Sendable {
    /// The text in place of a secret.
    private static let mark = "(hidden)"
    /// The minimum number of bytes by which a piece of a secret is recognised.
    private static let shortestPiece = 16
    /// The distance between the starts of the pieces that are searched for.
    private static let step = 4
    /// The maximum number of spaces and line ends in a row between two bytes of a secret.
    private static let mostSpaces = 8

    /// A form to compare a text with, from one of the form's bytes on.
    private struct Start {
        var form: SecretForm
        var offset = 0
    }

    /// The forms to search for, by their first two bytes.
    private var forms: [UInt16: [Start]] = [:]
    /// Pieces from the inside of a form, by their first four bytes.
    private var pieces: [UInt32: [Start]] = [:]
    /// The pairs of bytes that a form or piece can begin with in a text, as a bit set: it rules out most places.
    private var starts = StartPairs()

    package init(_ all: some Sequence<SecretForm>) {
        for form in all {
            let first = (form.bytes[0], form.bytes[1])
            forms[Self.key(first.0, first.1), default: []].append(Start(form: form))
            starts.insert(first.0, first.1)
            guard form.hidesPieces else { continue }
            for offset in stride(from: Self.step, through: form.bytes.count - Self.shortestPiece, by: Self.step) {
                let bytes = Array(form.bytes[offset...].prefix(4))
                pieces[Self.key(bytes), default: []].append(Start(form: form, offset: offset))
                starts.insert(bytes[0], bytes[1])
            }
        }
    }

    /// Returns the text without secrets; nil if it holds none.
    package func hiding(_ text: [UInt8]) -> [UInt8]? {
        if forms.isEmpty { return nil }
        return text.withUnsafeBufferPointer { text -> [UInt8]? in
            var output: [UInt8] = []
            var (copied, read) = (0, 0)
            var found = 0..<0
            func hide() {
                output.append(contentsOf: text[copied..<found.lowerBound])
                output.append(contentsOf: Self.mark.utf8)
                copied = found.upperBound
            }
            for index in text.indices where starts.contains(text, at: index) {
                var end = exactEnd(in: text, at: index, beyond: found.upperBound)
                if index >= read, let last = readEnd(in: text, at: index) { (read, end) = (last, max(end, last)) }
                guard end > found.upperBound else { continue }
                // Secrets that overlap are hidden together.
                if index < found.upperBound {
                    found = found.lowerBound..<end
                } else {
                    if !found.isEmpty { hide() }
                    found = index..<end
                }
            }
            if found.isEmpty { return nil }
            hide()
            output.append(contentsOf: text[copied...])
            return output
        }
    }

    /// Returns the text without secrets; nil if it holds none.
    package func hiding(_ text: String) -> String? {
        hiding(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the end of the longest form that begins at a place, as it is; `end` if none goes beyond it.
    private func exactEnd(in text: UnsafeBufferPointer<UInt8>, at index: Int, beyond end: Int) -> Int {
        let key = Self.key(EscapedBytes.folded(text[index]), EscapedBytes.folded(text[index + 1]))
        var end = end
        for start in forms[key] ?? [] where index + start.form.bytes.count > end {
            let rest = text[index...].prefix(start.form.bytes.count)
            if rest.lazy.map(EscapedBytes.folded).elementsEqual(start.form.bytes) { end = rest.endIndex }
        }
        return end
    }

    /// Returns the end of the longest form or piece that begins at a place, with its escapes resolved; nil if none does.
    private func readEnd(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        var reader = EscapedBytes(text, at: index)
        guard let first = reader.next(), let second = reader.next() else { return nil }
        var begun = (forms[Self.key(first, second)] ?? []).filter { !$0.form.isExact }
        if !pieces.isEmpty, let third = reader.next(), let fourth = reader.next() {
            begun += pieces[Self.key([first, second, third, fourth])] ?? []
        }
        return begun.compactMap { readEnd(of: $0, in: text, at: index) }.max()
    }

    private func readEnd(of start: Start, in text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        let bytes = start.form.bytes
        var reader = EscapedBytes(text, at: index)
        var (place, end) = (start.offset, index)
        while place < bytes.count {
            let before = reader
            if reader.next() == bytes[place] {
                place += 1
                if reader.isAtBoundary { end = reader.index }
                continue
            }
            // A long secret may be wrapped in lines.
            reader = before
            guard place > start.offset, bytes.count >= Self.shortestPiece, reader.skipSpaces(Self.mostSpaces) else {
                break
            }
        }
        let isWhole = start.offset == 0 && place == bytes.count
        guard end > index, isWhole || place - start.offset >= Self.shortestPiece else { return nil }
        // The last digits also depend on the bytes after the secret.
        var left = start.form.isEncoded ? 4 : 0
        while left > 0, end < text.count,
            Base64.value(of: text[end]) != nil || text[end] == UInt8(ascii: "=")
        {
            end += 1
            left -= 1
        }
        return end
    }

    private static func key(_ first: UInt8, _ second: UInt8) -> UInt16 { UInt16(first) << 8 | UInt16(second) }
    private static func key(_ bytes: [UInt8]) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The pairs of bytes that a secret can begin with in a text: in either case, and with each byte escaped.
private struct StartPairs: Sendable {
    private static let escapes = Array("%\\&".utf8)

    private var bits = [UInt64](repeating: 0, count: 1 << 10)

    init() {
        for first in Self.escapes { for second in 0...UInt8.max { set(first, second) } }
    }

    /// Inserts a pair in lower case.
    mutating func insert(_ first: UInt8, _ second: UInt8) {
        for first in Self.cases(of: first) {
            for second in Self.cases(of: second) + Self.escapes { set(first, second) }
        }
    }

    /// Whether a secret can begin at a place.
    func contains(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        guard index + 1 < text.count else { return false }
        let pair = Int(text[index]) << 8 | Int(text[index + 1])
        return bits[pair >> 6] & 1 << UInt64(pair & 63) != 0
    }

    private mutating func set(_ first: UInt8, _ second: UInt8) {
        let pair = Int(first) << 8 | Int(second)
        bits[pair >> 6] |= 1 << UInt64(pair & 63)
    }

    private static func cases(of byte: UInt8) -> [UInt8] {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? [byte, byte & ~0x20] : [byte]
    }
}
