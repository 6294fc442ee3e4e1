internal import SluiceCore

extension HostileCase {
    /// Rows that are not what rows should be, each on a page with a good one.
    static var rows: [HostileCase] { noRows + noIDs + wrongTypes + together }

    private static let x = HostileRows.row("x")

    private static func page(_ name: String, _ row: String, _ outcome: HostileOutcome) -> HostileCase {
        HostileCase(.rows, name, .pull, outcome, answer: once(HostileRows.page([row, x])))
    }
    /// The row is set aside, and the good one is taken.
    private static func broken(_ name: String, _ row: String) -> HostileCase { page(name, row, HostileRows.brought) }
    private static func taken(_ name: String, _ row: String, _ ids: [String]) -> HostileCase {
        page(name, row, .brings(ids, cursor: .at(HostileRows.time)))
    }

    private static var noRows: [HostileCase] {
        [("null", "null"), ("a number", "7"), ("a text", "\"x\""), ("true", "true"), ("a list", "[]")].map {
            broken("a row that is \($0)", $1)
        }
    }

    private static var noIDs: [HostileCase] {
        [
            ("missing", #"{"version":"1"}"#), ("null", #"{"id":null}"#), ("a number", #"{"id":7}"#),
            ("2^64", #"{"id":18446744073709551616}"#), ("true", #"{"id":true}"#), ("an object", #"{"id":{}}"#),
            ("a list", #"{"id":["a"]}"#), ("without a character", #"{"id":""}"#),
        ].map { broken("an id that is \($0)", $1) }
    }

    private static var wrongTypes: [HostileCase] {
        let values = [("a number", "7"), ("a list", "[1]"), ("an object", "{}"), ("true", "true"), ("null", "null")]
        let columns = ["version", "updatedAt"].flatMap { column in
            values.map { name, value in
                let other = column == "version" ? #""updatedAt":"\#(HostileRows.time)""# : #""version":"7""#
                return taken(
                    "a \(column) that is \(name)", #"{"id":"w","\#(column)":\#(value),\#(other)}"#,
                    value == "null" ? ["a", "b", "w", "x"] : ["a", "b", "x"])
            }
        }
        let deleted = [
            ("a text", "\"no\""), ("false in a text", "\"false\""), ("a number", "7"), ("0", "0"), ("null", "null"),
            ("a list", "[]"),
        ].map { name, value in
            taken(
                "a deleted that is \(name)",
                #"{"id":"w","version":"7","updatedAt":"\#(HostileRows.time)","deleted":\#(value)}"#,
                ["null", "0", "\"false\""].contains(value) ? ["a", "b", "w", "x"] : ["a", "b", "x"])
        }
        return columns + deleted
    }

    private static var together: [HostileCase] {
        let time = HostileRows.time
        return [
            taken(
                "a row that is here already, with nothing new", #"{"id":"b","version":"7","updatedAt":"\#(time)"}"#,
                ["a", "b", "x"]),
            taken("one id twice on a page", #"{"id":"x","version":"6","updatedAt":"\#(time)"}"#, ["a", "b", "x"]),
            taken(
                "a tombstone of a row that is not here", #"{"id":"y","deleted":true,"updatedAt":"\#(time)"}"#,
                ["a", "b", "x"]),
            taken("a tombstone without a version or a time", #"{"id":"b","deleted":true}"#, ["a", "x"]),
            HostileCase(
                .rows, "the row and its tombstone", .pull, .brings(["a", "b"], cursor: .at(time)),
                answer: once(HostileRows.page([x, HostileRows.row("x", #""deleted":true"#)]))),
            taken(
                "a row of another table", #"{"id":"w","film":"Alien","version":"7","updatedAt":"\#(time)"}"#,
                ["a", "b", "w", "x"]),
            HostileCase(
                .rows, "a record other than the one that was asked for", .lookup, .fails(.brokenProtocol),
                answer: always([.json(200, HostileRows.row("b"))])),
            HostileCase(
                .rows, "a list in the place of a record", .lookup, .fails(.brokenProtocol),
                answer: always([.json(200, HostileRows.page([HostileRows.row("a")]))])),
            HostileCase(
                .rows, "a record with an integer for its id", .lookup, .fails(.brokenProtocol),
                answer: always([.json(200, #"{"id":7}"#)])),
        ]
    }
}
