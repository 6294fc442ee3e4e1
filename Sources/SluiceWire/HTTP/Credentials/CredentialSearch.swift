/// Finds credentials in texts, in whatever case and with whatever escapes the texts repeat them.
struct CredentialSearch: Sendable {
    /// What stands in a credential's place.
    static let mark = "(hidden)"
    /// How many bytes of a credential have to be there where a text was cut inside of it.
    private static let shortestBeginning = 16

    /// What is looked for, by its first two bytes.
    private var forms: [UInt16: [Credential.Form]] = [:]
    /// Which two bytes anything begins with: most places of a text are passed with one look at this.
    private var starts: [Bool] = []

    init(_ credentials: some Sequence<Credential>) {
        for form in credentials.flatMap(\.forms) where form.bytes.count > 1 {
            forms[Self.key(form.bytes[0], form.bytes[1]), default: []].append(form)
        }
        if forms.isEmpty { return }
        starts = [Bool](repeating: false, count: 1 << 16)
        for key in forms.keys { starts[Int(key)] = true }
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
        return forms[key]?.compactMap { match(of: $0, in: text, at: index) }.max()
    }

    private func match(of form: Credential.Form, in text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        var reader = EscapedBytes(text, at: index)
        var (count, end) = (0, index)
        while count < form.bytes.count, reader.next() == form.bytes[count] {
            count += 1
            if reader.isAtBoundary { end = reader.index }
        }
        guard end > index, count == form.bytes.count || count >= Self.shortestBeginning else { return nil }
        // The last digits also depend on what comes after.
        var left = form.isEncoded ? 4 : 0
        while left > 0, end < text.count,
            Base64Digits.value(of: text[end]) != nil || text[end] == UInt8(ascii: "=")
        {
            end += 1
            left -= 1
        }
        return end
    }

    private static func key(_ first: UInt8, _ second: UInt8) -> UInt16 { UInt16(first) << 8 | UInt16(second) }
}
