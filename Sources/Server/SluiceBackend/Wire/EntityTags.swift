/// Lists of entity tags in the fields of conditions (RFC 9110, section 13.1).
enum EntityTags {
    /// Returns the tags in the values of a field, each with its quotes and its `W/`. A comma in quotes is part of its
    /// tag.
    static func all(in values: [String]) -> [String] {
        values.flatMap { value in
            var tags = [""]
            var isQuoted = false
            var previous: Unicode.Scalar = " "
            for scalar in value.unicodeScalars {
                // A quote in a version is escaped with a backslash.
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

    /// Returns the tag without the mark of a weak one.
    static func strong(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
}
