import SluiceCore
import SluiceStores

/// Makes requests, the defining requests of a store, and records so many that whatever the requests tell apart is among
/// them.
struct CoverageGenerator {
    /// What the columns are declared as.
    enum Columns: Int, CaseIterable {
        case none, integers, reals
    }

    private var random: SeededGenerator
    let schema: TableSchema
    /// Every combination of values: those that the filters name, and one between any two.
    let records: [JSON]

    init(seed: UInt64, _ columns: Columns) {
        random = SeededGenerator(seed: seed)
        var numbers: [JSON] = [.null, 0, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5]
        var texts: [JSON] = [.null, "", "a", "aa", "ab", "aba", "ac", "b", "b0", "ba", "bab", "c"]
        switch columns {
        case .none:
            schema = TableSchema("t")
            numbers += [true, "a", []]
            texts += [1, false]
        case .integers, .reals:
            if columns == .integers { numbers = numbers.filter { $0.isNull || $0.int != nil } }
            let number: TableSchema.ColumnType = columns == .integers ? .integer : .real
            schema = TableSchema("t", columns: [.init("x", number), .init("s", .string), .init("y", .boolean)])
        }
        var records: [JSON] = []
        for number in numbers {
            for text in texts {
                for flag in [JSON.null, true, false] {
                    records.append(
                        ["id": JSON("r\(records.count)"), "x": number, "s": text, "y": flag, "z": "more"])
                }
            }
        }
        self.records = records
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
    private mutating func number() -> TableQuery.Literal { .number(JSON.Number(Int64(1 + below(4)))) }
    private mutating func text() -> TableQuery.Literal { .string(pick(["a", "ab", "b", "ba"])) }

    private mutating func atom() -> QueryExpression {
        let comparison = pick([QueryExpression.BinaryOperator.eq, .ne, .gt, .ge, .lt, .le])
        switch below(11) {
        case 0, 1, 2: return .binary(comparison, .column("x"), .literal(number()))
        case 3, 4: return .binary(comparison, .column("s"), .literal(text()))
        case 5: return .membership(.column("x"), (0...below(3)).map { _ in number() })
        case 6: return .membership(.column("s"), (0...below(3)).map { _ in text() })
        case 7: return .call(.startswith, [.column("s"), .literal(.string(pick(["a", "b", "ab", ""])))])
        case 8: return .binary(pick([.eq, .ne]), .column("y"), .literal(.bool(pick([true, false]))))
        case 9: return .column("y")
        default: return .binary(pick([.eq, .ne]), .column(pick(["x", "s", "y"])), .literal(.null))
        }
    }

    mutating func filter(_ depth: Int) -> QueryExpression {
        if depth == 0 || below(3) == 0 { return atom() }
        switch below(6) {
        case 0: return .unary(.not, filter(depth - 1))
        case 1, 2: return .binary(.or, filter(depth - 1), filter(depth - 1))
        default: return .binary(.and, filter(depth - 1), filter(depth - 1))
        }
    }

    private mutating func selection() -> [ODataOptions.SelectItem] {
        let names: [[PropertyName]] = [[], [], [], ["x", "s"], ["x"], ["s", "y"], ["x", "s", "y"]]
        return pick(names).map { ODataOptions.SelectItem($0) }
    }

    /// Up to three defining requests, and a request that is often a part of one of them.
    mutating func pair() -> (request: ODataOptions, defining: [DefiningRequest]) {
        let defining = (0...below(3)).map { index in
            var options = ODataOptions()
            if below(8) > 0 { options.filter = filter(1) }
            options.select = selection()
            if below(20) == 0 { options.top = 3 }
            return DefiningRequest("d\(index)", of: "t", options)
        }
        var request = ODataOptions()
        if below(12) > 0 { request.filter = filter(2) }
        if below(2) == 0, let given = defining[0].options.filter { request.filter = .binary(.and, given, filter(1)) }
        request.select = selection()
        if below(4) == 0 {
            request.order = [.init(pick(["x", "s"]), descending: below(2) == 0)]
            if below(2) == 0 { request.top = 1 + below(5) }
        }
        return (request, defining)
    }

    /// The records of a store that those requests fill: each with what its requests give of it.
    func store(_ defining: [DefiningRequest]) throws -> [JSON] {
        var store: [String: JSON] = [:]
        for request in defining {
            let query = TableQuery("t", filter: request.options.filter, top: request.options.top)
            let names = request.options.select.compactMap(\.name)
            for record in try TableQuery.Evaluator(query, schema: schema).apply(to: records) {
                let id = record["id"]?.string ?? ""
                let part =
                    names.isEmpty
                    ? record
                    : JSON(members: (names + ["id"]).compactMap { name in record[name].map { (name, $0) } })
                var known = store[id] ?? .object
                for (name, value) in part.members ?? [] { known[name] = value }
                store[id] = known
            }
        }
        return Array(store.values)
    }

    /// The answer to a request from those records.
    func answer(_ request: ODataOptions, from records: [JSON]) throws -> [JSON] {
        let query = TableQuery(
            "t", filter: request.filter, order: request.order, top: request.top,
            select: request.select.compactMap(\.name))
        return try TableQuery.Evaluator(query, schema: schema).apply(to: records)
    }
}
