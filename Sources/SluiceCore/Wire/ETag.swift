/// An entity tag (RFC 9110, section 8.8.3) as the clients of this protocol write and read it.
package enum ETag: Sendable, Hashable {
    /// A version of the record.
    case strong(String)
    /// A hash of the answer's body or the like, kept whole: never a version, and never sent in `If-Match`.
    case weak(String)

    /// Reads a header field's value. Outer quotes are taken off where both are there, and `\"` is a quote; a value
    /// without quotes is taken as it is.
    package init(_ field: String) {
        if field.hasPrefix("W/") {
            self = .weak(field)
            return
        }
        let quoted = field.count > 1 && field.hasPrefix("\"") && field.hasSuffix("\"")
        let text = quoted ? String(field.dropFirst().dropLast()) : field
        self = .strong(text.replacing("\\\"", with: "\""))
    }

    /// The version, if the tag is one.
    package var version: String? {
        if case .strong(let version) = self { return version }
        return nil
    }

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
