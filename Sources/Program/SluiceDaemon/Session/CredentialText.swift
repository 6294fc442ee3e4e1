internal import Foundation
internal import Sluice

/// A credential from a file or a program: its text without the additions of editors and tools.
enum CredentialText {
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The credential in the bytes: a leading byte order mark and surrounding white space are removed.
    static func text(_ bytes: [UInt8]) -> String {
        let content = bytes.starts(with: byteOrderMark) ? bytes[byteOrderMark.count...] : bytes[...]
        return String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The credential in a file; nil where it cannot be read.
    static func read(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { text(Array($0)) }
    }
}
