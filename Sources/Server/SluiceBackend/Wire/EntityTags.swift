/// Lists of entity tags, as the fields of conditions hold them (RFC 9110, section 13.1).
enum EntityTags {
    /// The tags in the values of a field, each with its quotes and its `W/`. A comma in quotes is part of its tag.
    static func all(in values: [String]) -> [String] {
        values.flatMap { value in
            var tags = [""]
            var isQuoted = false
            var previous: Unicode.Scalar = " "
            for scalar in value.unicodeScalars {
                // Versions with a quote are written with a backslash before it.
                if scalar == "\"", previous != "\\" { isQuoted.toggle() }
                previous = scalar
                if scalar == ",", !isQuoted {
                    tags.append("")
                } else if isQuoted || (scalar != " " && scalar != "\t") {
                    tags[tags.count - 1].unicodeScalars.append(scalar)
                }
            }
            return tags
        }
    }

    /// The tag without its mark of weakness.
    static func strong(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
}
