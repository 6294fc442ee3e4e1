internal import SluiceBase

/// Adds what `$expand` asks for to records: the linked records are read by the values that link them, some at a time.
struct Expansion: Sendable {
    let execution: SetExecution
    let table: String
    let depth: Int

    /// The deepest that expansions are nested.
    static let maximumDepth = 16
    /// How many records are looked up by one request.
    private static let chunk = 40

    /// Adds an item to each of the records, which stand for those rows.
    func add(_ item: ExpandItem, of rows: [JSON], to records: inout [JSON]) async throws {
        guard depth < Self.maximumDepth else {
            throw SluiceError(.invalidQuery, "the expansion is nested deeper than \(Self.maximumDepth)", table: table)
        }
        guard let name = item.name else {
            throw SluiceError(.unsupported, "\(item.odata) is read, but not expanded", table: table)
        }
        let reference = try execution.schemas.reference(name, of: table)
        let found = try await linked(item, reference, rows)
        for (index, row) in rows.enumerated() {
            let all = LinkValue(row, reference.column).flatMap { found[$0] } ?? []
            let paged = Array(all.dropFirst(item.options.skip ?? 0).prefix(item.options.top ?? .max))
            if item.options.count == true, reference.isCollection {
                records[index][PropertyName("\(name.text)@odata.count")] = JSON(all.count)
            }
            switch item.part {
            case .count: records[index][PropertyName("\(name.text)@odata.count")] = JSON(all.count)
            case .references:
                let ids = paged.map { JSON(members: [("id", $0["id"] ?? .null)] as [(PropertyName, JSON)]) }
                records[index][name] = reference.isCollection ? JSON(ids) : ids.first ?? .null
            case .records: records[index][name] = reference.isCollection ? JSON(paged) : paged.first ?? .null
            }
        }
    }

    /// The linked records, by the values that link them, each in the order that is asked for.
    private func linked(
        _ item: ExpandItem, _ reference: TableSchema.Reference, _ rows: [JSON]
    ) async throws -> [LinkValue: [JSON]] {
        var values: [LinkValue] = []
        var seen: Set<LinkValue> = []
        for row in rows {
            if let value = LinkValue(row, reference.column), seen.insert(value).inserted { values.append(value) }
        }
        let schema = execution.schemas[reference.table]
        var read = TableRead(table: reference.table, options: item.options)
        (read.options.skip, read.options.top, read.options.count, read.options.levels) = (nil, nil, nil, nil)
        if let again = repeated(item) { read.options.expand.append(again) }
        // The column that links has to come along; it is taken out again where it was not asked for.
        let isAsked =
            read.options.select.isEmpty || reference.targetColumn == "id"
            || read.options.select.contains { $0.path == [.all] || $0.name == reference.targetColumn }
        if !isAsked { read.options.select.append(SelectItem(reference.targetColumn)) }
        var found: [LinkValue: [JSON]] = [:]
        var rest = values[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.chunk)
            rest = rest.dropFirst(Self.chunk)
            let literals = part.map { $0.literal(for: reference.targetColumn, of: schema) }
            let page = try await execution.page(
                read.restricted(to: .membership(.column(reference.targetColumn), literals)), depth: depth + 1)
            for var record in page.records {
                guard let value = LinkValue(record, reference.targetColumn) else { continue }
                if !isAsked { record[reference.targetColumn] = nil }
                found[value, default: []].append(record)
            }
        }
        return found
    }

    /// The same item once more inside of itself, as `$levels` asks.
    ///
    /// The deepest that an expansion is nested also ends `max`, and so one that leads in a circle.
    private func repeated(_ item: ExpandItem) -> ExpandItem? {
        guard let levels = item.options.levels, let name = item.name,
            execution.schemas[table].reference(name)?.table == table
        else { return nil }
        var again = item
        switch levels {
        case .times(let count) where count > 1: again.options.levels = .times(count - 1)
        case .max where depth < Self.maximumDepth - 2: again.options.levels = .max
        default: return nil
        }
        return again
    }
}
