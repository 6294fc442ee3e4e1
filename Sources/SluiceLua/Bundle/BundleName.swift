/// The names that files of a bundle may have.
enum BundleName {
    /// Whether a folder or file may be called so: letters, digits, `_`, `-` and `.` of ASCII, not a dot in front.
    static func isAllowed(_ name: Substring) -> Bool {
        !name.isEmpty && name.utf8.count <= 128 && name.utf8.first != UInt8(ascii: ".")
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && (ScalarRanges.word.contains($0.value) || $0 == "-" || $0 == ".")
            }
    }

    /// The name by which a source is required: `lib.rules` for `lib/rules.lua`. Nil for what is no source, or one whose
    /// name has a dot in it.
    static func module(of path: String) -> String? {
        guard path.hasSuffix(".lua") else { return nil }
        let parts = path.dropLast(4).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ isAllowed($0) && !$0.contains(".") }) else { return nil }
        return parts.joined(separator: ".")
    }
}
