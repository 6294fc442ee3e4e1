internal import SluiceBase

/// Finds credentials in texts, in whatever case and with whatever escapes the texts repeat them.
struct CredentialSearch: Sendable {
    /// What stands in a credential's place.
    static let mark = "(hidden)"
    /// How many bytes of a credential have to be there where a text has a piece of it.
    private static let shortestPiece = 16
    /// How far apart pieces begin that are looked for.
    private static let step = 4
    /// How many spaces and line ends may stand in a row between two bytes of a credential.
    private static let mostSpaces = 8

    /// What a text is compared with from a place on: a form, from one of its bytes on.
    private struct Start {
        var form: Credential.Form
        var offset = 0
    }

    /// What is looked for, by its first two bytes.
    private var forms: [UInt16: [Start]] = [:]
    /// Pieces that do not begin where their form does, by their first four bytes.
    private var pieces: [UInt32: [Start]] = [:]
    /// Which two bytes anything begins with: most places of a text are passed with one look at this.
    private var starts: [Bool] = []

    init(_ credentials: some Sequence<Credential>) {
        for form in credentials.flatMap(\.forms) where form.bytes.count > 1 {
            forms[Self.key(form.bytes[0], form.bytes[1]), default: []].append(Start(form: form))
            guard form.hidesPieces else { continue }
            for offset in stride(from: Self.step, through: form.bytes.count - Self.shortestPiece, by: Self.step) {
                let bytes = form.bytes[offset...].prefix(4).map { $0 }
                pieces[Self.key(bytes), default: []].append(Start(form: form, offset: offset))
            }
        }
        if forms.isEmpty { return }
        starts = [Bool](repeating: false, count: 1 << 16)
        for key in forms.keys { starts[Int(key)] = true }
        for key in pieces.keys { starts[Int(key >> 16)] = true }
    }

    /// The text without credentials; nil if it holds none.
    func hiding(_ text: [UInt8]) -> [UInt8]? {
        if forms.isEmpty { return nil }
        return text.withUnsafeBufferPointer { text -> [UInt8]? in
            var output: [UInt8] = []
            var (copied, index) = (0, 0)
            while index < text.count {
                guard let end = match(in: text, at: index) else {
                    index += 1
                    continue
                }
                output.append(contentsOf: text[copied..<index])
                output.append(contentsOf: Self.mark.utf8)
                (copied, index) = (end, end)
            }
            if copied == 0 { return nil }
            output.append(contentsOf: text[copied...])
            return output
        }
    }

    /// The text without credentials; nil if it holds none.
    func hiding(_ text: String) -> String? {
        hiding(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Where the longest credential ends that begins at a place; nil if none does.
    private func match(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        var reader = EscapedBytes(text, at: index)
        guard let first = reader.next(), let second = reader.next() else { return nil }
        let key = Self.key(first, second)
        guard starts[Int(key)] else { return nil }
        var begun = forms[key] ?? []
        if !pieces.isEmpty, let third = reader.next(), let fourth = reader.next() {
            begun += pieces[Self.key([first, second, third, fourth])] ?? []
        }
        return begun.compactMap { match(of: $0, in: text, at: index) }.max()
    }

    private func match(of start: Start, in text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
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
            // A long one may be wrapped in lines.
            reader = before
            guard place > start.offset, bytes.count >= Self.shortestPiece, reader.skipSpaces(Self.mostSpaces) else {
                break
            }
        }
        let isWhole = start.offset == 0 && place == bytes.count
        guard end > index, isWhole || place - start.offset >= Self.shortestPiece else { return nil }
        // The last digits also depend on what comes after.
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
