/// Takes lists of OData's query options apart.
enum ODataList {
    /// The parts between the separators that stand in no quotes and no parentheses, without spaces around them.
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

    /// A name and what stands in the parentheses after it; nil for what has none at its end.
    static func call(_ text: String) -> (name: String, inner: String)? {
        guard text.last == ")", let open = text.firstIndex(of: "(") else { return nil }
        return (String(text[..<open]), String(text[text.index(after: open)...].dropLast()))
    }
}
