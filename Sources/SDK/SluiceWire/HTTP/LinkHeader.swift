internal import HTTPTypes

/// Reads `Link` header fields for the address of the next page.
///
/// Mobile Apps servers write the address bare, `http://host/tables/T?$skip=50; rel=next`. Other servers follow RFC
/// 8288, with angle brackets and perhaps several links in one field. Both are read, scalar by scalar, because a
/// combining mark after a bracket would hide it.
package enum LinkHeader {
    private typealias Text = Substring.UnicodeScalarView

    /// Returns the address of the first link of an answer with the relation `next`.
    package static func next(in response: SyncResponse) -> String? {
        HTTPField.Name("Link").flatMap { next(in: response.head.headerFields[values: $0]) }
    }

    /// Returns the address of the first link with the relation `next`, from the fields' values.
    package static func next(in fields: [String]) -> String? {
        for field in fields {
            let text = field[...].unicodeScalars.drop { $0 == " " || $0 == "\t" }
            let link = text.first == "<" ? bracketed(text) : bare(text)
            if let link { return link }
        }
        return nil
    }

    /// Reads `address; rel=next`, with nothing after it.
    private static func bare(_ field: Text) -> String? {
        guard let semicolon = field.lastIndex(of: ";"), isNext(field[field.index(after: semicolon)...]) else {
            return nil
        }
        let address = field[..<semicolon].trimmed
        return address.isEmpty ? nil : String(Substring(address))
    }

    /// Reads `<address>; rel="next"; title="x", <other>; rel=prev` (RFC 8288, section 3).
    private static func bracketed(_ field: Text) -> String? {
        var rest = field
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let address = rest[rest.index(after: open)..<close].trimmed
            let (parameters, end) = parameters(rest[rest.index(after: close)...])
            if !address.isEmpty, parameters.contains(where: isNext) { return String(Substring(address)) }
            rest = end
        }
        return nil
    }

    /// Returns the parameters up to the comma that ends the link, and the rest. In quotes neither `;` nor `,` counts.
    private static func parameters(_ text: Text) -> ([Text], Text) {
        var parts: [Text] = []
        var isQuoted = false
        var start = text.startIndex
        for index in text.indices {
            let character = text[index]
            if character == "\"" { isQuoted.toggle() }
            guard !isQuoted, character == ";" || character == "," else { continue }
            parts.append(text[start..<index])
            start = text.index(after: index)
            if character == "," { return (parts, text[start...]) }
        }
        parts.append(text[start...])
        return (parts, text[text.endIndex...])
    }

    /// Whether a parameter is `rel` with `next` among its relations.
    private static func isNext(_ parameter: Text) -> Bool {
        guard let equals = parameter.firstIndex(of: "=") else { return false }
        guard Substring(parameter[..<equals].trimmed).lowercased() == "rel" else { return false }
        var value = parameter[parameter.index(after: equals)...].trimmed
        if value.count > 1, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        return value.split(separator: " ").contains { Substring($0).lowercased() == "next" }
    }
}

extension Substring.UnicodeScalarView {
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: Substring.UnicodeScalarView {
        var text = self
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return text
    }
}
