import SluiceCore
import SluiceStores

/// Makes tables of linked records, defining requests, and requests for them; and answers these the plain way.
struct RequestGenerator {
    static let tables = [
        TableSchema(
            "Shops", columns: [.init("Country", .string), .init("Rank", .integer), .init("Open", .boolean)],
            references: [.init("Orders", toMany: "Orders", where: "ShopID")]),
        TableSchema(
            "Orders", columns: [.init("ShopID", .string), .init("Price", .integer), .init("Kind", .string)],
            references: [.init("Shop", to: "Shops", by: "ShopID")]),
    ]

    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    /// The records of each table, by their ids.
    mutating func records() -> [String: [String: JSON]] {
        let shops = (0..<25).map { index -> JSON in
            [
                "id": JSON("s\(index)"), "Country": pick(["US", "CN", "DE", "Usedom", .null]),
                "Rank": pick([.null, 1, 2, 3, 4, 5]), "Open": pick([.null, true, false]),
            ]
        }
        let orders = (0..<60).map { index -> JSON in
            [
                "id": JSON("o\(index)"), "ShopID": below(8) == 0 ? .null : JSON("s\(below(28))"),
                "Price": pick([.null, 5, 10, 20, 30]), "Kind": pick(["a", "ab", "b", .null]),
            ]
        }
        func byID(_ records: [JSON]) -> [String: JSON] {
            Dictionary(records.map { ($0["id"]?.string ?? "", $0) }) { $1 }
        }
        return ["Shops": byID(shops), "Orders": byID(orders)]
    }

    /// Changes, makes and deletes records on the device and in the data.
    mutating func change(_ data: inout [String: [String: JSON]], _ store: OfflineStore) async throws {
        for table in ["Shops", "Orders"] {
            let here = try await store.read(table).records.compactMap { $0["id"]?.string }.sorted()
            for id in here where below(6) == 0 {
                if below(4) == 0 {
                    try await store.delete(id, in: table)
                    data[table]![id] = nil
                } else {
                    let changes: JSON =
                        table == "Shops"
                        ? ["id": JSON(id), "Rank": JSON(1 + below(6)), "Country": pick(["US", "CN", "DE"])]
                        : ["id": JSON(id), "Price": JSON(5 * below(6)), "ShopID": JSON("s\(below(28))")]
                    try await store.patch(changes, in: table)
                    for (name, value) in changes.members! { data[table]![id]![name] = value }
                }
            }
            let new: JSON =
                table == "Shops"
                ? ["id": "n1", "Country": "US", "Rank": JSON(below(6)), "Open": true]
                : ["id": "n2", "ShopID": "n1", "Price": JSON(below(30)), "Kind": "ab"]
            try await store.create(new, in: table)
            data[table]![new["id"]!.string!] = new
        }
    }

    private mutating func atom(_ table: String) -> QueryExpression {
        let comparison = pick([QueryExpression.BinaryOperator.eq, .ne, .gt, .ge, .lt, .le])
        let isShops = table == "Shops"
        switch below(7) {
        case 0, 1:
            let number = isShops ? 1 + below(5) : pick([5, 10, 20, 30])
            return .binary(
                comparison, .column(isShops ? "Rank" : "Price"), .literal(.number(JSON.Number(Int64(number)))))
        case 2, 3:
            let text = isShops ? pick(["US", "CN", "DE"]) : pick(["a", "ab", "b"])
            return .binary(comparison, .column(isShops ? "Country" : "Kind"), .literal(.string(text)))
        case 4:
            return .call(
                .startswith,
                [.column(isShops ? "Country" : "Kind"), .literal(.string(isShops ? pick(["U", "D"]) : "a"))])
        case 5:
            let texts = isShops ? ["US", "CN"] : ["a", "b"]
            return .membership(.column(isShops ? "Country" : "Kind"), texts.map { .string($0) })
        default:
            return .binary(
                pick([.eq, .ne]), .column(isShops ? pick(["Rank", "Country", "Open"]) : pick(["Price", "ShopID"])),
                .literal(.null))
        }
    }

    private mutating func filter(_ table: String, _ depth: Int) -> QueryExpression {
        if depth == 0 || below(3) == 0 { return atom(table) }
        switch below(5) {
        case 0: return .unary(.not, filter(table, depth - 1))
        case 1, 2: return .binary(.or, filter(table, depth - 1), filter(table, depth - 1))
        default: return .binary(.and, filter(table, depth - 1), filter(table, depth - 1))
        }
    }

    private var known: [String: QueryExpression] = [:]

    /// One to three defining requests.
    mutating func defining() -> [DefiningRequest] {
        (0...below(3)).map { index in
            let table = index == 0 ? "Shops" : pick(["Shops", "Orders"])
            var options = ODataOptions()
            if below(5) > 0 { options.filter = filter(table, 1) }
            if below(3) == 0 { options.expand = [ODataOptions.ExpandItem(table == "Shops" ? "Orders" : "Shop")] }
            known[table] = options.filter ?? known[table]
            return DefiningRequest("d\(index)", of: table, options)
        }
    }

    /// A request for a set; one of three is for a record, along a link, or for a number.
    mutating func request() -> StoreRequest {
        var request = setRequest()
        let table = request.path.segments[0].name
        switch below(9) {
        case 0:
            let key = table == "Shops" ? "s\(below(28))" : "o\(below(62))"
            request = one(request, table)
            request.path = ResourcePath(table, key: RecordID(key))
        case 1 where table == "Orders":
            request.path.segments = [.init("Shops", key: RecordID("s\(below(28))")), .init("Orders")]
        case 1:
            request = one(request, "Shops")
            request.path.segments = [.init("Orders", key: RecordID("o\(below(62))")), .init("Shop")]
        case 2:
            var options = ODataOptions()
            options.filter = request.options.filter
            request = StoreRequest(table, options)
            request.path.segments.append(.init("$count"))
        default: break
        }
        return request
    }

    /// What can be asked of one record.
    private func one(_ request: StoreRequest, _ table: String) -> StoreRequest {
        var options = ODataOptions()
        (options.select, options.expand) = (request.options.select, request.options.expand)
        return StoreRequest(table, options)
    }

    private mutating func setRequest() -> StoreRequest {
        let table = pick(["Shops", "Shops", "Orders"])
        var options = ODataOptions()
        if below(8) > 0 { options.filter = filter(table, 2) }
        // Often a part of what is here.
        if below(2) == 0, let given = known[table] {
            options.filter = below(3) == 0 ? given : .binary(.and, given, filter(table, 1))
        }
        if below(2) == 0 {
            let keys: [PropertyName] = table == "Shops" ? ["Rank", "Country", "Open"] : ["Price", "Kind"]
            options.order = [.init(pick(keys), descending: below(2) == 0)]
        }
        if below(4) == 0 { options.top = below(6) }
        if below(5) == 0 { options.skip = below(4) }
        if below(5) == 0 { options.count = true }
        if below(4) == 0 {
            let names: [PropertyName] = table == "Shops" ? ["Rank", "Country"] : ["Price", "ShopID"]
            options.select = names.prefix(1 + below(2)).map { ODataOptions.SelectItem($0) }
        }
        if below(4) == 0 {
            var item = ODataOptions.ExpandItem(table == "Shops" ? "Orders" : "Shop")
            if below(2) == 0 { item.options.filter = filter(table == "Shops" ? "Orders" : "Shops", 0) }
            if table == "Shops", below(3) == 0 { item.options.top = 2 }
            options.expand = [item]
        }
        return StoreRequest(table, options)
    }

    /// The table that a path leads to, and its rows there; nil for those of a record that there is not.
    private static func target(_ request: StoreRequest, _ data: [String: [String: JSON]]) -> (String, [JSON]?) {
        let segments = request.path.segments
        let table = segments[0].name
        let rows = data[table, default: [:]]
        guard let key = segments[0].recordID?.text else { return (table, Array(rows.values)) }
        guard segments.count > 1 else { return (table, rows[key].map { [$0] }) }
        if segments[1].name == "Orders" {
            return ("Orders", data["Orders", default: [:]].values.filter { $0["ShopID"]?.string == key })
        }
        guard let owner = rows[key] else { return ("Shops", nil) }
        return ("Shops", data["Shops", default: [:]].values.filter { $0["id"] == owner["ShopID"] })
    }

    /// The answer, by filtering, sorting and cutting the server's rows, with nothing of the stores; nil where there is no
    /// such record.
    static func plain(
        _ request: StoreRequest, _ data: [String: [String: JSON]]
    ) throws -> (records: [JSON], count: Int)? {
        let options = request.options
        let (table, all) = target(request, data)
        guard let all else { return nil }
        func rows(_ name: String) -> [JSON] { Array(data[name, default: [:]].values) }
        let schema = tables.first { $0.name == table }
        let query = TableQuery(
            table, filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
        let evaluator = try TableQuery.Evaluator(query, schema: schema)
        var records = evaluator.apply(to: all)
        let names = Set(options.select.compactMap(\.name) + ["id"])
        records = try records.map { record in
            var output =
                options.select.isEmpty ? record : JSON(members: record.members!.filter { names.contains($0.name) })
            for item in options.expand {
                let name = item.name!
                let isMany = name == "Orders"
                let other = isMany ? "Orders" : "Shops"
                let linked = rows(other).filter { row in
                    isMany ? row["ShopID"] == record["id"] : row["id"] == record["ShopID"]
                }
                let inner = TableQuery(other, filter: item.options.filter, top: item.options.top)
                let found = try TableQuery.Evaluator(inner, schema: tables.first { $0.name == other }).apply(to: linked)
                output[name] = isMany ? JSON(found) : found.first ?? .null
            }
            return output
        }
        return (comparable(records), all.count { evaluator.matches($0) })
    }

    /// Records without what only the server sets, which wires name differently.
    static func comparable(_ records: [JSON]) -> [JSON] {
        func stripped(_ value: JSON) -> JSON {
            if let elements = value.elements { return JSON(elements.map(stripped)) }
            guard let members = value.members else { return value }
            let system: Set<PropertyName> = [
                "version", "updatedAt", "createdAt", "deleted", "__version", "__updatedAt", "__deleted",
            ]
            return JSON(members: members.filter { !system.contains($0.name) }.map { ($0.name, stripped($0.value)) })
        }
        return records.map(stripped)
    }
}
