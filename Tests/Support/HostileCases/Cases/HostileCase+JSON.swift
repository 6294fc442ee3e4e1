internal import SluiceCore

extension HostileCase {
    /// Bodies that are not the JSON they should be. Nothing is mended, and nothing of them is stored; a row whose ends are
    /// clear is set aside by itself.
    static var json: [HostileCase] { texts + encodings + nesting + repeatedNames + shapes + fine + ofChanges }

    private static func body(_ name: String, _ text: String, _ outcome: HostileOutcome = .fails(.brokenProtocol))
        -> HostileCase
    {
        HostileCase(.json, name, .pull, outcome, answer: once(text))
    }
    private static func body(
        _ name: String, bytes: [UInt8], _ outcome: HostileOutcome = .fails(.brokenProtocol)
    ) -> HostileCase {
        HostileCase(
            .json, name, .pull, outcome,
            answer: once([.answer(200, [("Content-Type", "application/json")], body: bytes)]))
    }

    private static let row = HostileRows.row("x")
    private static func with(_ more: String) -> String { HostileRows.page([HostileRows.row("x", more)]) }

    /// The outcome where the row is set aside by itself.
    private static let aside = HostileOutcome.brings(["a", "b"], cursor: .at(HostileRows.time))

    private static var texts: [HostileCase] {
        [
            body("no JSON", "it works"), body("a web page", "<!DOCTYPE html><html><body>Log in</body></html>"),
            body("XML", "<feed/>"), body("nothing", ""), body("spaces", "   \r\n "),
            body("cut within a row", String(HostileRows.one.dropLast(12))), body("cut after a row", "[\(row)"),
            body("cut within a name", "[{\"id"), body("cut within an escape", "[{\"id\":\"\\u00"),
            body("more after it", HostileRows.one + "x"), body("two documents", HostileRows.one + HostileRows.one),
            body("a comma after the last row", "[\(row),]"), body("two commas", "[\(row),,\(row)]"),
            body("comments", "/* */ \(HostileRows.one) // "), body("single quotes", "[{'id':'x'}]"),
            body("a name without quotes", "[{id:\"x\"}]"), body("NaN", with("\"n\":NaN"), aside),
            body("Infinity", with("\"n\":-Infinity"), aside), body("undefined", with("\"n\":undefined"), aside),
            body("a word in capitals", with("\"n\":TRUE"), aside), body("a leading zero", with("\"n\":007"), aside),
            body("a plus", with("\"n\":+7"), aside), body("a point without digits", with("\"n\":7."), aside),
            body("a number in hexadecimal", with("\"n\":0x7"), aside),
            body("a line break within a text", with("\"n\":\"a\nb\""), aside),
            body("an unknown escape", with(#""n":"\x41""#), aside),
            body("a guard before the JSON", ")]}',\n" + HostileRows.one),
            body("JSON lines", "\(row)\n\(row)"), body("a callback", "callback(\(HostileRows.one))"),
        ]
    }

    private static var encodings: [HostileCase] {
        func text(_ bytes: [UInt8]) -> [UInt8] {
            Array(#"[{"id":"x","version":"1","updatedAt":"\#(HostileRows.time)","n":""#.utf8) + bytes
                + Array("\"}]".utf8)
        }
        return [
            body("a byte order mark", "\u{FEFF}" + HostileRows.one, HostileRows.brought),
            body("UTF-16", bytes: Array(HostileRows.one.utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
            body(
                "UTF-16 with a mark",
                bytes: [255, 254] + Array("[]".utf16).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }),
            body("a byte that is no UTF-8", bytes: text([0xFF]), aside), body("Latin-1", bytes: text([0xE9]), aside),
            body("a letter that is cut", bytes: text([0xC3]), aside),
            body("an overlong slash", bytes: text([0xC0, 0xAF]), aside),
            body("a surrogate in UTF-8", bytes: text([0xED, 0xA0, 0x80]), aside),
            body("a letter beyond Unicode", bytes: text([0xF4, 0x90, 0x80, 0x80]), aside),
            body("a NUL byte in a text", bytes: text([0]), aside),
            body("a NUL byte after it", bytes: Array("[]".utf8) + [0]),
            body("half a surrogate pair", with(#""n":"\ud800""#), aside),
            body("a surrogate pair the wrong way round", with(#""n":"\udc00\ud800""#), aside),
            body("half a surrogate pair in a name", with(#""\ud800":1"#), aside),
            body("NUL in a name", with(#""a\u0000b":1"#), aside),
        ]
    }

    private static var nesting: [HostileCase] {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        return [
            body("a million brackets", String(repeating: "[", count: 1_000_000)),
            body("a million braces", String(repeating: "{\"a\":", count: 1_000_000)),
            // What is a row by its place is set aside, however deep it is; the others are taken.
            body(
                "a million levels, closed", nested(1_000_000),
                .brings(["a", "b"], cursor: .at("2023-11-14T22:12:50.000Z"))),
            body(
                "a row of 10,000 levels", with("\"n\":\(nested(10_000))"),
                .brings(["a", "b"], cursor: .at(HostileRows.time))),
            body(
                "a row of 65 levels beside a good one",
                HostileRows.page([HostileRows.row("w", "\"n\":\(nested(64))"), HostileRows.row("x")]),
                HostileRows.brought),
            body("a row of 40 levels", with("\"n\":\(nested(40))"), HostileRows.brought),
        ]
    }

    private static var repeatedNames: [HostileCase] {
        ["id": "\"y\"", "version": "\"8\"", "deleted": "true", "updatedAt": "\"9999-01-01T00:00:00Z\"", "text": "1"]
            .sorted { $0.key < $1.key }.map { name, value in
                // Of two times neither is the row's.
                body(
                    "the name “\(name)” twice", with("\"deleted\":false,\"\(name)\":\(value)"),
                    name == "updatedAt" ? .brings(["a", "b"], cursor: .at("2023-11-14T22:12:50.000Z")) : aside)
            } + [
                body("a name twice, once with an escape", with(#""n":1,"\u006e":2"#), aside),
                body("a name twice within a value", with(#""n":{"a":1,"a":2}"#), aside),
                body("rows twice", #"{"items":[],"items":\#(HostileRows.one)}"#),
                body(
                    "a name twice among 1000",
                    with((0..<1000).map { "\"n\($0)\":1" }.joined(separator: ",") + ",\"n7\":2"), aside),
            ]
    }

    private static var shapes: [HostileCase] {
        [
            body("a number", "7"), body("a text", "\"[]\""), body("null", "null"), body("true", "true"),
            body("an object without rows", "{}"), body("an error in the place of rows", #"{"error":"no such table"}"#),
            body("rows that are an object", #"{"results":{}}"#), body("rows that are null", #"{"items":null}"#),
            body("rows that are a text", #"{"items":"[]"}"#), body("a record in the place of a list", row),
            body("a count that is a text", #"{"items":\#(HostileRows.one),"count":"7"}"#),
            body("a count of 1e400", #"{"items":\#(HostileRows.one),"count":1e400}"#),
            body("a count of 2^64", #"{"items":\#(HostileRows.one),"count":18446744073709551616}"#),
            body("a count of -1", #"{"items":\#(HostileRows.one),"count":-1}"#, HostileRows.brought),
            body("a count that is far too small", #"{"items":\#(HostileRows.one),"count":0}"#, HostileRows.brought),
            body(
                "a list within a list", "[\(HostileRows.one)]",
                .brings(["a", "b"], cursor: .at("2023-11-14T22:12:50.000Z"))),
        ]
    }

    /// What is unusual, but right.
    private static var fine: [HostileCase] {
        [
            HostileCase(
                .json, "JSON that is said to be a web page", .pull, HostileRows.brought,
                answer: once([
                    .answer(200, [("Content-Type", "text/html; charset=utf-16")], body: Array(HostileRows.one.utf8))
                ])),
            body("spaces all around", " \r\n\t\(HostileRows.one)\n ", HostileRows.brought),
            body(
                "NUL in a text", with(#""n":"a\u0000b""#),
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: [#""a\u0000b""#])),
            body(
                "a surrogate pair", with(#""n":"\ud83d\ude00""#),
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: ["😀"])),
            body(
                "control characters and texts that look like SQL", with(#""n":"\u001b'; DROP TABLE items; --""#),
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: ["'; DROP TABLE items; --"])),
            body("a name without a character", with("\"\":1"), HostileRows.brought),
            body(
                "names that programs trip over",
                with(
                    #""__proto__":{"a":1},"constructor":1,"_extra":{"a":1},"_absent":1,"rowid":7,"ROWID":8,"order":1"#),
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: ["__proto__", "_absent"])),
            body(
                "names that differ in case alone", with(#""Text":"T","TEXT":"U","Id":"z","VERSION":"9""#),
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: [#""Text":"T""#, #""Id":"z""#])),
        ]
    }

    private static var ofChanges: [HostileCase] {
        let bodies = [
            ("a web page", "<html>Log in</html>"), ("nothing", ""), ("cut", #"{"id":"new","te"#), ("null", "null"),
            ("a million brackets", String(repeating: "[", count: 1_000_000)),
            ("a name twice", #"{"id":"new","version":"1","version":"2"}"#),
        ]
        return bodies.map { name, text in
            // What cannot be read proves nothing: the record is read back, and that cannot be read either.
            HostileCase(
                .json, "\(name), to a change", .insert, .waits(.brokenProtocol), answer: always([.json(201, text)]))
        }
    }
}
