internal import SluiceCore

/// Removes the values of secrets from texts that leave a plugin: log lines, errors, the decision log.
struct Redactor: Sendable {
    /// The length of the shortest value that is hidden, in bytes: a shorter one would occur in every text.
    private static let shortest = 4

    /// The search for the values; nil if there are none.
    private let search: SecretSearch?

    /// Hides the values.
    init(_ values: some Sequence<String>) {
        let hidden = values.filter { $0.utf8.count >= Self.shortest }
        let forms = hidden.flatMap {
            SecretForm.all(of: Array($0.utf8), hidesPieces: false, shortestDigits: Self.shortest)
        }
        search = forms.isEmpty ? nil : SecretSearch(forms)
    }

    func callAsFunction(_ text: String) -> String { search?.hiding(text) ?? text }

    func callAsFunction(_ json: JSON) -> JSON {
        if search == nil { return json }
        switch json.kind {
        case .string: return JSON(self(json.string ?? ""))
        case .array: return JSON((json.elements ?? []).map { self($0) })
        case .object: return JSON(members: (json.members ?? []).map { (self($0.name.text), self($0.value)) })
        default: return json
        }
    }

    /// Whether the text contains one of the values.
    func finds(in text: String) -> Bool { search?.hiding(text) != nil }
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
