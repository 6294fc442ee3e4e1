internal import SluiceCore

/// The secrets of one plugin. Its script never has one: it has a handle, a text in whose place the host puts the value
/// where it leaves for a server that the plugin may talk to, or becomes a key.
package struct SecretBook: Sendable {
    private let values: [String: String]
    /// The handles, by the secrets' names. Nobody can guess one, so that no text from elsewhere becomes a secret.
    let handles: [String: String]
    /// Takes the values out of texts.
    let redact: Redactor

    /// - Parameter others: the values of other plugins' secrets. This one has no handle for them, and sees and writes
    ///   none: another plugin may have put one into the request.
    package init(_ values: [String: String] = [:], others: [String] = []) {
        self.values = values
        redact = Redactor(Array(values.values) + others)
        handles = Dictionary(
            uniqueKeysWithValues: values.keys.map { name in
                (name, "{{secret \(name) \(String(UInt64.random(in: .min ... .max), radix: 16))}}")
            })
    }

    /// The text with the values in the place of their handles.
    func revealed(_ text: String) -> String {
        guard !handles.isEmpty, text.contains("{{secret ") else { return text }
        var text = text
        for (name, handle) in handles { if let value = values[name] { text = text.replacing(handle, with: value) } }
        return text
    }
}
