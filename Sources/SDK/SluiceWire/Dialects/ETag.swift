internal import HTTPTypes

/// An entity tag (RFC 9110, section 8.8.3) as the clients of this protocol write and read it, on every wire. The
/// filter ``LiftVersion`` uses it to send versions as conditions. A wire with a rule of its own gets a property in
/// ``Dialect``, which that filter reads.
package enum ETag: Sendable, Hashable {
    /// A version of the record.
    case strong(String)
    /// A hash of the answer's body or similar, kept whole: never a version, and never sent in `If-Match`.
    case weak(String)

    /// Reads a header field's value. A pair of outer quotes is removed, and `\"` is a quote. A value without quotes is
    /// used unchanged.
    package init(_ field: String) {
        // By bytes: a combining mark after a quote would form one character with it.
        let bytes = Array(field.utf8)
        if bytes.starts(with: "W/".utf8) {
            self = .weak(field)
            return
        }
        let quote = UInt8(ascii: "\"")
        let isQuoted = bytes.count > 1 && bytes.first == quote && bytes.last == quote
        var text: [UInt8] = []
        for byte in isQuoted ? bytes[1..<bytes.count - 1] : bytes[...] {
            if byte == quote && text.last == UInt8(ascii: "\\") { text.removeLast() }
            text.append(byte)
        }
        self = .strong(String(decoding: text, as: UTF8.self))
    }

    /// The version, if the tag is one.
    package var version: String? {
        if case .strong(let version) = self { return version }
        return nil
    }

    /// Whether the text can be a version: it has a character, and can go back to the server in a header field.
    package static func isVersion(_ text: String) -> Bool { !text.isEmpty && HTTPField.isValidValue(quoted(text)) }

    /// Returns a version in quotes, for `If-Match`. A quote without a backslash before it gets one.
    package static func quoted(_ version: String) -> String {
        var output = "\""
        var previous: Unicode.Scalar = " "
        for scalar in version.unicodeScalars {
            if scalar == "\"" && previous != "\\" { output += "\\" }
            output.unicodeScalars.append(scalar)
            previous = scalar
        }
        return output + "\""
    }
}
