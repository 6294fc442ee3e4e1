internal import SluiceCore

/// Removes the values of secrets from texts that leave a plugin: log lines, errors, the decision log. It finds them as
/// they are and in the forms of ``SecretForms``, by their bytes. The text is scanned once.
struct Redactor: Sendable {
    private static let mark = Array("(hidden)".utf8)

    /// The byte sequences to find, by their first four bytes, the longest first.
    private var needles: [UInt32: [[UInt8]]] = [:]
    /// The first two bytes of all sequences, as a bit set: it rules out most positions of a text.
    private var starts = [UInt64](repeating: 0, count: 1 << 10)

    /// Hides the values. Very short ones are not hidden: they would occur in every text.
    init(_ values: some Sequence<String>) {
        for value in values where value.utf8.count >= SecretForms.shortest {
            for form in SecretForms.all(of: Array(value.utf8)) {
                needles[Self.key(form[...]), default: []].append(form)
                let start = Int(form[0]) << 8 | Int(form[1])
                starts[start >> 6] |= 1 << UInt64(start & 63)
            }
        }
        needles = needles.mapValues { Set($0).sorted { $0.count > $1.count } }
    }

    private static func key(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(SecretForms.shortest).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns the range of the first sequence found at or after an index.
    private func finds(_ text: [UInt8], from: Int) -> Range<Int>? {
        var from = from
        while let place = candidate(in: text, from: from) {
            if let found = needles[Self.key(text[place...])]?.first(where: { text[place...].starts(with: $0) }) {
                return place..<place + found.count
            }
            from = place + 1
        }
        return nil
    }

    /// Returns the next index with the first two bytes of a sequence. It scans every byte that a plugin logs, so it
    /// uses pointers.
    private func candidate(in text: [UInt8], from: Int) -> Int? {
        text.withUnsafeBufferPointer { text in
            starts.withUnsafeBufferPointer { starts -> Int? in
                var place = from
                while place + SecretForms.shortest <= text.count {
                    let start = Int(text[place]) << 8 | Int(text[place + 1])
                    if starts[start >> 6] & 1 << UInt64(start & 63) != 0 { return place }
                    place += 1
                }
                return nil
            }
        }
    }

    func callAsFunction(_ text: String) -> String {
        if needles.isEmpty { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var copied = 0
        while let found = finds(bytes, from: copied) {
            output += bytes[copied..<found.lowerBound] + Self.mark
            copied = found.upperBound
        }
        return copied == 0 ? text : String(decoding: output + bytes[copied...], as: UTF8.self)
    }

    func callAsFunction(_ json: JSON) -> JSON {
        if needles.isEmpty { return json }
        switch json.kind {
        case .string: return JSON(self(json.string ?? ""))
        case .array: return JSON((json.elements ?? []).map { self($0) })
        case .object: return JSON(members: (json.members ?? []).map { (self($0.name.text), self($0.value)) })
        default: return json
        }
    }

    /// Whether the text contains one of the values.
    func finds(in text: String) -> Bool { !needles.isEmpty && finds(Array(text.utf8), from: 0) != nil }
}

/// The secrets of one plugin. Its script never sees a value, only a handle. The host replaces the handle when it is
/// sent to a server of the plugin's permissions, or used as a key.
package struct SecretBook: Sendable {
    private let values: [String: String]
    /// The handles, by the secrets' names. They cannot be guessed, so that no text from elsewhere becomes a secret.
    let handles: [String: String]
    /// Removes the values from texts.
    let redact: Redactor

    /// - Parameter others: the values of other plugins' secrets. This plugin has no handles for them, and neither sees
    ///   nor logs them: another plugin may have put one into the request.
    package init(_ values: [String: String] = [:], others: [String] = []) {
        self.values = values
        redact = Redactor(Array(values.values) + others)
        handles = Dictionary(
            uniqueKeysWithValues: values.keys.map { name in
                (name, "{{secret \(name) \(String(UInt64.random(in: .min ... .max), radix: 16))}}")
            })
    }

    /// Returns the text with the handles replaced by the values.
    func revealed(_ text: String) -> String {
        guard !handles.isEmpty, text.contains("{{secret ") else { return text }
        var text = text
        for (name, handle) in handles { if let value = values[name] { text = text.replacing(handle, with: value) } }
        return text
    }
}

/// The forms of a secret that are searched for: a script, or a server that echoes it, can produce each in one step.
enum SecretForms {
    /// The shortest form that is searched for, in bytes.
    static let shortest = 4

    /// Returns the secret as it is, reversed, in hexadecimal digits, in base64, in an address, and in a JSON text.
    static func all(of secret: [UInt8]) -> [[UInt8]] {
        var forms = [secret, secret.reversed()]
        let digits = Array(Base16.text(secret).utf8)
        forms += [digits, Array(Base16.text(secret).uppercased().utf8)]
        for offset in 0..<3 {
            let text = Base64.inner(secret, after: offset)
            forms += [text, text.map(Base64.addressDigit)]
        }
        for alphabet in ["0123456789ABCDEF", "0123456789abcdef"] {
            forms += [percent(secret, alphabet, space: nil), percent(secret, alphabet, space: UInt8(ascii: "+"))]
        }
        let text = String(decoding: secret, as: UTF8.self)
        forms.append(Array(JSON(text).bytes().dropFirst().dropLast()))
        return forms.filter { $0.count >= shortest }
    }

    /// Percent-encodes every byte except letters, digits and `-._~`.
    private static func percent(_ secret: [UInt8], _ digits: String, space: UInt8?) -> [UInt8] {
        let digits = Array(digits.utf8)
        return secret.flatMap { byte -> [UInt8] in
            let isLetter = (byte | 0x20) &- 0x61 < 26
            if isLetter || byte &- 0x30 < 10 || Array("-._~".utf8).contains(byte) { return [byte] }
            if let space, byte == UInt8(ascii: " ") { return [space] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}
