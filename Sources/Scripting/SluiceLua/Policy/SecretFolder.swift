internal import Foundation
internal import SluiceCore

/// A folder with the secrets of plugins, each in a file named after it.
package struct SecretFolder: Sendable {
    private static let mostBytes = 65_536

    private let path: String

    /// Creates a reader of the folder at a path.
    package init(path: String) { self.path = path }

    /// Returns the content of a secret's file, without the line break at its end; nil if there is no such file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file that is not text, or too long for a secret.
    package func secret(_ name: String) throws -> String? {
        // The name comes from a plugin's manifest: it may not lead out of the folder.
        let isPlain = name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 >= 0x20 } && !name.hasPrefix(".")
        guard isPlain, !name.isEmpty else { return nil }
        let path = (path as NSString).appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let bytes = try? OpenFile(path, .filesOnly).read(upTo: Self.mostBytes + 1),
            (1...Self.mostBytes).contains(bytes.count), let text = String(bytes: bytes, encoding: .utf8)
        else { throw SluiceError(.invalidArgument, "the secret \(name) is not a readable file of text") }
        return text.trimmingCharacters(in: .newlines)
    }
}
