internal import HTTPTypes

/// An entity tag (RFC 9110, section 8.8.3) as the clients of this protocol write and read it, on every wire. The filter
/// ``LiftVersion`` sends versions as conditions by it; a wire with a rule of its own gets a property in ``Dialect``,
/// which that filter asks.
package enum ETag: Sendable, Hashable {
    /// A version of the record.
    case strong(String)
    /// A hash of the answer's body or the like, kept whole: never a version, and never sent in `If-Match`.
    case weak(String)

    /// Reads a header field's value. Outer quotes are taken off where both are there, and `\"` is a quote; a value
    /// without quotes is taken as it is.
    package init(_ field: String) {
        // By bytes: a mark that follows a quote would be one character with it.
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

    /// A version in quotes, for `If-Match`: a backslash stands before every quote that has none before it.
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
