internal import SluiceCore

/// Records that stores find hard, and random ones made from a seed.
enum ConformanceRecords {
    /// A table with a column of each type.
    static let schema = TableSchema(
        "typed",
        columns: TableSchema.ColumnType.allCases.map { .init(PropertyName($0.rawValue), $0) },
        indexes: [["string"], ["integer", "date"]])

    /// One value of every kind, and the numbers that are hard to keep exactly.
    static let values: [JSON] = {
        let numbers = [
            "0", "-0", "0.0", "-0.0", "5", "5.0", "5.5", "1.10", "1e5", "1E+2", "1e400", "-1e400", "1e-400", "0.1",
            "18446744073709551616", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
            "9007199254740992", "9007199254740993", "9007199254740993.0", "12345678901234567.89",
            "1.7976931348623157e308", "5e-324", "123456789.123456789",
        ]
        let strings = [
            "", "plain", "5", "true", "null", "a\u{0}b", "\u{0}", "it's \"quoted\"", "Robert'); DROP TABLE typed;--",
            "🎬 naïve e\u{301} \u{E9}", "\\ / \u{8}\u{C}\n\r\t\u{1}\u{1F}", "%_", "2013-09-01T12:34:56.789Z",
            "2013-09-01", "\u{FEFF}bom", String(repeating: "long ", count: 40),
        ]
        let others: [JSON] = [
            .null, true, false, [], [:], [1, .null, "x"], ["a": ["b": [.null]]], [["deep": [[[[true]]]]]],
        ]
        return numbers.compactMap { JSON.Number(text: $0).map { JSON($0) } } + strings.map { JSON($0) } + others
    }()

    /// Ids that stores find hard, such as ones that differ in case or in normalization alone.
    static let ids = [
        "1", "01", "a", "A", "\u{E9}", "e\u{301}", "it's", "\"", "🎬", " ", "a\u{0}b", "a\u{0}c", "null", "x;--", "%",
        "_",
        String(repeating: "i", count: 500),
    ]

    /// A record nested as deep as ``JSON/maximumDepth`` allows.
    static let deepest: JSON = {
        var value: JSON = 1
        for _ in 1..<JSON.maximumDepth { value = [value] }
        return ["id": "deepest", "value": value]
    }()

    /// Returns one record for each value, with that value in each declared column and in an undeclared property.
    static func everyValueEverywhere() -> [JSON] {
        values.enumerated().map { number, value in
            var record: JSON = ["id": JSON("value-\(number)"), "undeclared": value]
            for column in schema.columns { record[column.name] = value }
            return record
        }
    }

    /// Returns `count` records of ``schema``. Most values come from a small range, so that many are equal.
    static func random(_ count: Int, seed: UInt64) -> [JSON] {
        var random = SeededNumbers(seed)
        return (0..<count).map { number in
            var record: JSON = ["id": JSON("\(random.next(1000))-\(number)")]
            for name in schema.columns.map(\.name) + ["undeclared", "other"] where random.next(6) > 0 {
                record[name] = random.next(4) == 0 ? random.pick(values) : fitting(name, &random)
            }
            return record
        }
    }

    private static func fitting(_ column: PropertyName, _ random: inout SeededNumbers) -> JSON {
        switch TableSchema.ColumnType(rawValue: column.text) {
        case .integer: JSON(Int64(random.next(7)) - 3)
        case .real: JSON(Double(random.next(9)) / 2 - 2)
        case .boolean: JSON(random.next(2) == 0)
        case .date: JSON("201\(random.next(3))-0\(random.next(3) + 1)-01T00:00:0\(random.next(3)).\(random.next(3))Z")
        case .json: [JSON(random.next(3))]
        case .string: JSON(random.pick(["", "a", "b", "ab", "B", "é", "it's"]))
        case nil: random.next(2) == 0 ? JSON(random.next(5)) : JSON(random.pick(["a", "b", "1"]))
        }
    }
}

/// Random numbers from a seed (SplitMix64).
struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// A number from 0 to below `limit`.
    mutating func next(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(max(1, limit)))
    }

    /// Returns one of `elements`, which must not be empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(elements.count)] }
}
