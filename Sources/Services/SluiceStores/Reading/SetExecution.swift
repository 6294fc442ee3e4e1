internal import SluiceBase

/// Answers the read of a table from a source: filter, order, paging, computed properties, `$apply`, selection and
/// expansion mean the same with every source.
struct SetExecution: Sendable {
    let source: any RecordSource
    let schemas: StoreSchemas
    /// Is informed of the followed links.
    var links: (any LinkWatcher)?

    /// - Parameter path: the navigation properties from the requested records to here.
    func page(_ read: TableRead, depth: Int = 0, path: String = "") async throws -> RecordPage {
        let (rows, answers, count) = try await rows(read)
        var records = answers
        if read.options.apply.isEmpty, !read.options.select.isEmpty {
            for index in records.indices where records[index]["id"] == nil { records[index]["id"] = rows[index]["id"] }
        }
        if !read.options.expand.isEmpty {
            guard rows.count == records.count, read.options.apply.isEmpty else {
                throw SluiceError(.unsupported, "$expand does not go with $apply", table: read.table)
            }
            let expansion = Expansion(execution: self, table: read.table, depth: depth, path: path)
            for item in read.options.expand { try await expansion.add(item, of: rows, to: &records) }
        }
        return RecordPage(records: records, count: count)
    }

    /// Returns the records in stored form, and in the requested form.
    private func rows(_ read: TableRead) async throws -> ([JSON], [JSON], Int?) {
        let schema = schemas[read.table]
        if read.options.isForService || read.options.search != nil || !read.options.apply.isEmpty {
            if let page = try await asked(read) { return (page.records, page.records, page.count) }
            if read.options.isForService {
                throw SluiceError(
                    .unsupported, "the options have a token or a place in a list, which only the service knows",
                    table: read.table)
            }
        }
        guard let plan = try plan(read) else {
            if let page = try await asked(read) { return (page.records, page.records, page.count) }
            // Runs again to throw the reason.
            _ = try ODataRead(read.options, of: schema)
            return ([], [], nil)
        }
        if let key = read.key {
            let evaluator = try TableQuery.Evaluator(TableQuery(read.table, filter: plan.query.filter), schema: schema)
            let record = try await source.record(key, in: read.table).flatMap { evaluator.matches($0) ? $0 : nil }
            let rows = record.map { [$0] } ?? []
            return (rows, try plan.answer(rows), rows.count)
        }
        var query = plan.query
        query.select = columns(for: read)
        query.parameters = read.options.custom.map { TableQuery.Parameter($0.name, $0.value) }
        let page = try await source.page(query)
        return (page.records, try plan.answer(page.records), read.options.count == true ? page.count : nil)
    }

    /// Returns the plan of the read; nil for options that can be parsed and not executed here.
    private func plan(_ read: TableRead) throws(SluiceError) -> ODataRead? {
        do {
            return try ODataRead(read.options, of: schemas[read.table])
        } catch {
            if error.code == .unsupported { return nil }
            throw error
        }
    }

    /// Asks the service about options that no query can express.
    private func asked(_ read: TableRead) async throws -> RecordPage? {
        var options = read.wholeOptions
        options.expand = []
        if !options.select.isEmpty {
            for name in Self.linked(read, schemas) where !options.select.contains(where: { $0.name == name }) {
                options.select.append(ODataOptions.SelectItem(name))
            }
        }
        return try await source.page(options, of: read.table)
    }

    /// Returns the properties to request from the source; empty for all.
    private func columns(for read: TableRead) -> [PropertyName] {
        let options = read.options
        let names = options.select.compactMap(\.name)
        guard !names.isEmpty, names.count == options.select.count, options.compute.isEmpty, options.apply.isEmpty else {
            return []
        }
        var columns: [PropertyName] = ["id"]
        let needed = options.order.reduce(into: options.filter?.columns ?? []) { $0.formUnion($1.expression.columns) }
        for name in names + Self.linked(read, schemas) + needed.sorted(by: { $0.text < $1.text })
        where !columns.contains(name) { columns.append(name) }
        return columns
    }

    /// Returns the properties by which expanded records are found.
    private static func linked(_ read: TableRead, _ schemas: StoreSchemas) -> [PropertyName] {
        read.options.expand.compactMap { $0.name.flatMap { schemas[read.table].reference($0)?.column } }
    }
}

extension ODataOptions {
    /// Whether an option has a meaning for the service alone.
    fileprivate var isForService: Bool {
        skipToken != nil || deltaToken != nil || index != nil || id != nil
    }
}
