/// Splits lists in OData's query options.
enum ODataList {
    /// Returns the trimmed parts between the separators outside of quotes and parentheses.
    static func split(_ text: String, by separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var isQuoted = false
        for character in text {
            if character == "'" { isQuoted.toggle() }
            if !isQuoted {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                if character == separator, depth == 0 {
                    parts.append("")
                    continue
                }
            }
            parts[parts.count - 1].append(character)
        }
        return parts.map { part in
            let front = part.drop { $0 == " " }
            return String(front[..<(front.lastIndex { $0 != " " }.map(front.index(after:)) ?? front.endIndex)])
        }
    }

    /// Returns a name and the text in the parentheses after it; nil for a text without parentheses at its end.
    static func call(_ text: String) -> (name: String, inner: String)? {
        guard text.last == ")", let open = text.firstIndex(of: "(") else { return nil }
        return (String(text[..<open]), String(text[text.index(after: open)...].dropLast()))
    }
}
