internal import SluiceCore

/// What must hold for any text as OData.
enum ODataFuzz {
    static func check(_ input: [UInt8]) throws(FuzzFinding) {
        let text = String(decoding: input, as: UTF8.self)
        try checkFilter(text)
        try checkSchema(text)
        try checkOrder(text)
        try checkSelect(text)
        try checkOptions(text)
    }

    /// Query options that are read are printed as options that say the same.
    private static func checkOptions(_ text: String) throws(FuzzFinding) {
        guard var options = try? ODataOptions(text) else { return }
        let printed = options.parameters
        // Aliases are printed as their values.
        options.aliases = [:]
        guard let again = try? ODataOptions(printed) else { throw FuzzFinding("the options \(printed) are not read") }
        try demand(again.parameters.count == printed.count, "the options \(printed) are \(again.parameters)")
        for (before, after) in zip(printed, again.parameters) {
            try demand(before.name.isExactly(after.name), "the options \(printed) are \(again.parameters)")
            try demand(before.value.isExactly(after.value), "the options \(printed) are \(again.parameters)")
        }
    }

    /// What is read, printed and read again is the same tree, and means the same for every record.
    private static func checkFilter(_ text: String) throws(FuzzFinding) {
        let filter: QueryExpression
        do throws(TableQuery.SyntaxError) {
            filter = try QueryExpression(odata: text)
        } catch {
            return try check(error, in: text)
        }
        let results = try results(filter)
        for style in [ODataOptions.Style.v3, .v4] {
            let printed = filter.odata(style)
            let again: QueryExpression
            do throws(TableQuery.SyntaxError) {
                // The printer's parentheses and v3's comparisons in the place of `in` are levels of their own.
                again = try QueryExpression(odata: printed, maximumLength: .max, maximumDepth: 256)
            } catch {
                throw FuzzFinding("\(style) text is not read: \(error): \(printed)")
            }
            let (before, after) = (QueryOutline.text(filter, as: style), QueryOutline.text(again, as: style))
            try demand(before.isExactly(after), "\(style) text \(printed)\nmeans \(after)\nnot   \(before)")
            try demand(try Self.results(again) == results, "\(style) text means other records: \(printed)")
        }
        printSQL(filter)
    }

    /// Whether the filter holds for each record; nil where it means nothing.
    private static func results(_ filter: QueryExpression) throws(FuzzFinding) -> [Bool]? {
        guard let evaluator = try? TableQuery.Evaluator(TableQuery("things", filter: filter), schema: nil) else {
            return nil
        }
        return records.map { evaluator.matches($0) }
    }

    /// Prints SQL, which must not trap.
    private static func printSQL(_ filter: QueryExpression) {
        for schema in [nil, QueryGenerator.schema] {
            let printer = SQLQueryPrinter(dialect: .sqlite, schema: schema, extraColumn: "extra")
            _ = try? printer.condition(filter)
        }
    }

    /// With a schema the reader refuses, with the place, just what the evaluator refuses.
    private static func checkSchema(_ text: String) throws(FuzzFinding) {
        let schema = QueryGenerator.schema
        do throws(TableQuery.SyntaxError) {
            let filter = try QueryExpression(odata: text, for: schema, undeclared: .refused)
            do {
                let query = TableQuery(schema.name, filter: filter)
                let evaluator = try TableQuery.Evaluator(query, schema: schema, undeclared: .refused)
                for record in records { _ = evaluator.matches(record) }
            } catch {
                throw TableQuery.SyntaxError(reason: "read, but refused by the evaluator: \(error)", position: -1)
            }
        } catch {
            try check(error, in: text)
            if let filter = try? QueryExpression(odata: text) {
                let query = TableQuery(schema.name, filter: filter)
                let isRefused = (try? TableQuery.Evaluator(query, schema: schema, undeclared: .refused)) == nil
                try demand(isRefused, "the evaluator takes what the reader refuses: \(error)")
            }
        }
    }

    private static func checkOrder(_ text: String) throws(FuzzFinding) {
        var query = TableQuery("things")
        do throws(TableQuery.SyntaxError) {
            query.order = try TableQuery.order(odata: text)
        } catch {
            return try check(error, in: text)
        }
        let printed = query.odataOrder
        let again = (try? TableQuery.order(odata: printed)) ?? []
        let isSame =
            again.count == query.order.count
            && zip(again, query.order).allSatisfy { before, after in
                QueryOutline.text(before.expression, as: .v4).isExactly(QueryOutline.text(after.expression, as: .v4))
                    && before.descending == after.descending
            }
        try demand(isSame, "the order \(query.order) is printed as \(printed), which is \(again)")
        _ = try? TableQuery.Evaluator(query, schema: nil).apply(to: records)
    }

    private static func checkSelect(_ text: String) throws(FuzzFinding) {
        var query = TableQuery("things")
        do throws(TableQuery.SyntaxError) {
            query.select = try TableQuery.select(odata: text)
        } catch {
            return try check(error, in: text)
        }
        if text == "*" { return }
        let printed = query.odataSelect
        let again = (try? TableQuery.select(odata: printed)) ?? []
        let isSame = again.count == query.select.count && zip(again, query.select).allSatisfy { $0 == $1 }
        try demand(isSame, "the selection \(query.select) is printed as \(printed), which is \(again)")
        _ = try? TableQuery.Evaluator(query, schema: nil).apply(to: records)
    }

    private static func check(_ error: TableQuery.SyntaxError, in text: String) throws(FuzzFinding) {
        try demand((0...text.unicodeScalars.count).contains(error.position), "no place in the text: \(error)")
    }

    /// Records with values of every kind, for what is evaluated.
    private static let records: [JSON] = {
        var generator = QueryGenerator(seed: 1)
        let short: [JSON] = [
            ["id": "a", "a": 1, "b": "x", "c": true], ["id": "b", "a": "2024-02-29T12:00:00Z", "b": -1.5, "c": .null],
            ["id": "c", "a": false, "b": 0, "c": "İß"],
        ]
        return short + (0..<3).map { generator.record("r\($0)") }
    }()
}
