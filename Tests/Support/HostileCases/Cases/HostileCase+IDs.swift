internal import SluiceCore

extension HostileCase {
    /// Ids: each is kept as it is, and goes back to the server as a value, never as a part of an address or a filter.
    static var ids: [HostileCase] { strange + twins }

    private static var strange: [HostileCase] {
        let ids = [
            ("a quote", "it's"), ("an end of a filter", "x') or (id ne '"), ("a slash", "z/../b"),
            ("a percent", "z%2F%00"),
            ("two dots", ".."), ("a question mark", "z?$top=1"), ("an ampersand", "z&$filter=true"), ("a hash", "z#b"),
            ("a plus", "z+b"), ("a space", " "), ("a backslash", "z\\\\b"), ("a double quote", "z\\\"b"),
            ("NUL", "z\\u0000b"), ("a line break", "z\\r\\nX-More: yes"), ("an escape", "z\\u001b[2J"),
            ("the other direction", "z\\u202eb"), ("a letter of Cyrillic", "\u{430}"), ("an emoji", "😀"),
            ("10 KB", String(repeating: "z", count: 10_000)), ("SQL", "z'; DROP TABLE items; --"),
            ("a name of a system table", "sluice_operations"), ("JSON", "{\\\"id\\\":1}"),
        ]
        return ids.map { name, id in
            // The next page is asked for after this id.
            HostileCase(
                .ids, "an id with \(name)", .pullAll, .brings(sorted(["a", "b", unescaped(id)])),
                answer: once(HostileRows.page([HostileRows.row(id)])))
        }
    }

    private static var twins: [HostileCase] {
        [
            ("in case", ["A", "B"]), ("by a combining mark", ["\u{E9}", "e\u{301}"]),
            ("by the width of a letter", ["z", "\u{FF5A}"]), ("by a character that is not seen", ["z", "z\u{200B}"]),
            ("by a space", ["z", "z "]), ("after a NUL", ["z\u{0}1", "z\u{0}2"]),
        ].map { name, ids in
            HostileCase(
                .ids, "two ids that differ \(name)", .pullAll, .brings(sorted(["a", "b"] + ids)),
                answer: once(HostileRows.page(ids.map { HostileRows.row($0.replacing("\u{0}", with: "\\u0000")) })))
        }
    }

    private static func sorted(_ ids: [String]) -> [String] {
        ids.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    private static func unescaped(_ id: String) -> String {
        id.replacing("\\u0000", with: "\u{0}").replacing("\\u001b", with: "\u{1B}").replacing(
            "\\u202e", with: "\u{202E}"
        )
        .replacing("\\r\\n", with: "\r\n").replacing("\\\\", with: "\\").replacing("\\\"", with: "\"")
    }
}
