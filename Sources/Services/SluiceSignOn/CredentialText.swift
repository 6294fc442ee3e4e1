internal import Foundation
internal import HTTPTypes
internal import SluiceBase

/// A credential from a file or a program: its text without the additions of editors and tools.
package enum CredentialText {
    /// The largest file that is read, in bytes: no server takes a credential of this size.
    private static let mostBytes = 1 << 20
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the credential in the bytes: a leading byte order mark and surrounding white space are removed.
    package static func text(_ bytes: [UInt8]) -> String {
        let content = bytes.starts(with: byteOrderMark) ? bytes[byteOrderMark.count...] : bytes[...]
        return String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Whether a header field can have the credential. A second line, for example, is a second credential or none.
    package static func isUsable(_ text: String) -> Bool { !text.isEmpty && HTTPField.isValidValue(text) }

    /// Returns the credential in a file; nil if the file cannot be read, or is too long for one.
    package static func read(_ path: String) -> String? {
        guard let bytes = try? OpenFile(path).read(upTo: mostBytes + 1), bytes.count <= mostBytes else { return nil }
        return text(bytes)
    }
}
