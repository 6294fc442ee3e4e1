/// Writes an XML document. Texts are escaped, and characters that are invalid in XML 1.0 are left out.
struct XMLWriter {
    private(set) var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>"

    /// Writes an element with the content from `content`.
    mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String?> = [:], _ content: (inout XMLWriter) -> Void
    ) {
        open(name, attributes)
        text += ">"
        content(&self)
        text += "</\(name)>"
    }

    /// Writes an element without content, or with a text.
    mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String?> = [:], text content: String? = nil
    ) {
        open(name, attributes)
        guard let content else {
            text += "/>"
            return
        }
        text += ">" + Self.escaped(content) + "</\(name)>"
    }

    /// Writes an element with a prepared list of attributes.
    mutating func element(
        _ name: String, _ attributes: [(String, String?)], _ content: (inout XMLWriter) -> Void
    ) {
        open(name, attributes)
        text += ">"
        content(&self)
        text += "</\(name)>"
    }

    private mutating func open(_ name: String, _ attributes: some Sequence<(key: String, value: String?)>) {
        open(name, attributes.map { ($0.key, $0.value) })
    }

    private mutating func open(_ name: String, _ attributes: [(String, String?)]) {
        text += "<\(name)"
        for (name, value) in attributes {
            if let value { text += " \(name)=\"\(Self.escaped(value))\"" }
        }
    }

    static func escaped(_ text: String) -> String {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": output.append(contentsOf: "&amp;".unicodeScalars)
            case "<": output.append(contentsOf: "&lt;".unicodeScalars)
            case ">": output.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": output.append(contentsOf: "&quot;".unicodeScalars)
            case "\t", "\n", "\r": output.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
            // XML 1.0, section 2.2.
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
            default: output.append(scalar)
            }
        }
        return String(output)
    }
}
