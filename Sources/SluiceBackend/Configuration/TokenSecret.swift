/// A key that tokens are signed with, or where it is. What is printed of it never shows the key.
public struct TokenSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    enum Source: Sendable, Hashable {
        case variable(String)
        case text(String)
    }

    let source: Source

    /// The text in the environment's variable of that name, read when the backend is opened.
    public static func variable(_ name: String) -> TokenSecret { TokenSecret(source: .variable(name)) }

    /// A key that the program has from elsewhere.
    public static func text(_ key: String) -> TokenSecret { TokenSecret(source: .text(key)) }

    /// Where the key is, never the key itself.
    public var description: String {
        switch source {
        case .variable(let name): "the secret in \(name)"
        case .text: "a secret"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows no key either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
