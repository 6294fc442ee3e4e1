internal import SluiceBase

/// Adds the expansions of `$expand` to records: the linked records are read by their link values, some at a time.
struct Expansion: Sendable {
    let execution: SetExecution
    let table: String
    let depth: Int
    let path: String

    /// The greatest depth of nested expansions.
    static let maximumDepth = 16
    /// The number of records that one request looks up.
    private static let chunk = 40

    /// Adds an item to each of the records, which correspond to those rows.
    func add(_ item: ODataOptions.ExpandItem, of rows: [JSON], to records: inout [JSON]) async throws {
        guard depth < Self.maximumDepth else {
            throw SluiceError(.invalidQuery, "the expansion is nested deeper than \(Self.maximumDepth)", table: table)
        }
        guard let name = item.name else {
            throw SluiceError(.unsupported, "\(item.odata) is read, but not expanded", table: table)
        }
        let reference = try execution.schemas.reference(name, of: table)
        let found = try await linked(item, reference, rows)
        for (index, row) in rows.enumerated() {
            let all = LinkValue(row, along: reference).flatMap { found[$0] } ?? []
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

    /// Returns the linked records, by their link values, each in the requested order.
    private func linked(
        _ item: ODataOptions.ExpandItem, _ reference: TableSchema.Reference, _ rows: [JSON]
    ) async throws -> [LinkValue: [JSON]] {
        var values: [LinkValue] = []
        var seen: Set<LinkValue> = []
        var byID: [LinkValue] = []
        for row in rows {
            guard let value = LinkValue(row, along: reference), seen.insert(value).inserted else { continue }
            // A record without an assigned key is referred to by its id.
            let isKnown = !reference.isAssigned || !reference.isCollection || LinkValue(row, reference.column) != nil
            if isKnown { values.append(value) } else { byID.append(value) }
        }
        let path = "\(path)/\(reference.name.text)"
        try await execution.links?.follow(item, reference, from: table, at: path, values)
        let schema = execution.schemas[reference.table]
        var read = TableRead(table: reference.table, options: item.options)
        (read.options.skip, read.options.top, read.options.count, read.options.levels) = (nil, nil, nil, nil)
        if let again = repeated(item) { read.options.expand.append(again) }
        // The linking column has to be read; it is removed again if it was not requested.
        let isAsked =
            read.options.select.isEmpty || reference.targetColumn == "id"
            || read.options.select.contains { $0.path == [.all] || $0.name == reference.targetColumn }
        if !isAsked { read.options.select.append(ODataOptions.SelectItem(reference.targetColumn)) }
        var found: [LinkValue: [JSON]] = [:]
        var rest = values[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.chunk)
            rest = rest.dropFirst(Self.chunk)
            let literals = part.filter { $0.fits(reference.targetColumn, of: schema) }
                .map { $0.literal(for: reference.targetColumn, of: schema) }
            if literals.isEmpty { continue }
            let page = try await execution.page(
                read.restricted(to: .membership(.column(reference.targetColumn), literals)), depth: depth + 1,
                path: path)
            for var record in page.records {
                guard let value = LinkValue(record, reference.targetColumn) else { continue }
                if !isAsked { record[reference.targetColumn] = nil }
                found[value, default: []].append(record)
            }
        }
        for value in byID {
            let ids = try await execution.source.referring(to: value.id, along: reference)
            if ids.isEmpty { continue }
            let asked = read.restricted(to: .membership(.column("id"), ids.map { .id($0) }))
            var records = try await execution.page(asked, depth: depth + 1, path: path).records
            if !isAsked { for index in records.indices { records[index][reference.targetColumn] = nil } }
            found[value] = records
        }
        if reference.isAssigned, !reference.isCollection {
            // A record without an assigned key is referred to by its id.
            for value in values where found[value] == nil {
                guard try await execution.source.holds(value.id, in: reference.table) else { continue }
                var one = TableRead(table: reference.table, options: read.options, key: value.id)
                if !isAsked { one.options.select.removeLast() }
                found[value] = try await execution.page(one, depth: depth + 1, path: path).records
            }
        }
        return found
    }

    /// Returns the same item nested once more, as `$levels` requires.
    ///
    /// The greatest depth of expansions also ends `max`, and so a circular expansion.
    private func repeated(_ item: ODataOptions.ExpandItem) -> ODataOptions.ExpandItem? {
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
