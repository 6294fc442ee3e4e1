internal import SluiceBase

/// Resolves a request's path, and reads its target. Navigation properties lead to tables, so that every form of address
/// becomes a table and a condition.
struct PathWalk: Sendable {
    let reader: any TableReader
    let request: StoreRequest
    let readOptions: ReadOptions

    /// The current position on the path.
    private enum Position {
        case set(TableRead)
        case entity(TableRead)
        case property(TableRead, [PropertyName])
        /// A link to nothing.
        case nothing
    }

    func result() async throws -> StoreResult {
        var segments = request.path.segments[...]
        guard let first = segments.popFirst() else { throw refusal("names no table") }
        guard !first.name.hasPrefix("$") else { throw refusal("begins with \(first.name), which is no table") }
        let table = reader.schemas.spelled(first.name)
        if let call = try operation(first, table) {
            guard segments.isEmpty else { throw refusal("goes on after a function's result, which is not followed") }
            let (value, provenance) = try await reader.value(of: call)
            return StoreResult(records: [], value: value, provenance: provenance)
        }
        var place = try keyed(TableRead(table: table, options: ODataOptions()), first)
        var known: StoreResult.Provenance?
        while let segment = segments.popFirst() {
            switch (segment.name, place) {
            case (_, .nothing): continue
            case ("$count", .set(let read)):
                guard segments.isEmpty else { throw refusal("goes on after $count") }
                return try await count(read, known)
            case ("$value", .property): guard segments.isEmpty else { throw refusal("goes on after $value") }
            case ("$value", .entity): throw refusal("is one of a media stream; read it with media(_:)")
            case ("$ref", .set(let read)), ("$ref", .entity(let read)):
                guard segments.isEmpty else { throw refusal("goes on after $ref") }
                return try await references(read, place, known)
            case ("$links", .entity(let read)):
                guard let next = segments.popFirst(), segments.isEmpty else {
                    throw refusal("names one link after $links")
                }
                place = try await step(next, from: read, &known)
                switch place {
                case .set(let read), .entity(let read): return try await references(read, place, known)
                case .property: throw refusal("names a property after $links, and no link")
                case .nothing: break
                }
            case (_, .entity(let read)): place = try await step(segment, from: read, &known)
            case (_, .property(let read, let names)) where !segment.name.hasPrefix("$"):
                place = .property(read, names + [PropertyName(segment.name)])
            default: throw refusal("cannot be followed at \(segment.name)")
            }
        }
        return try await read(place, known)
    }

    private func read(_ place: Position, _ known: StoreResult.Provenance?) async throws -> StoreResult {
        switch place {
        case .nothing:
            return StoreResult(records: [], provenance: known ?? .init(.localComplete, asOf: nil, reasons: []))
        case .set(var read):
            read = asked(read)
            let answer = try await reader.answer(read, readOptions)
            return StoreResult(
                records: answer.records, count: answer.count, provenance: joined(known, answer.provenance))
        case .entity(var read):
            read = asked(read)
            let answer = try await reader.answer(read, readOptions)
            if answer.records.isEmpty, answer.provenance.source != .localPartial, known == nil {
                throw SluiceError(
                    .notFound, "there is no such record (\(answer.provenance.reasons.joined(separator: "; ")))",
                    table: read.table, recordID: read.key)
            }
            return StoreResult(records: answer.records, provenance: joined(known, answer.provenance))
        case .property(var read, let names):
            read.options.select = names.first.map { [ODataOptions.SelectItem($0)] } ?? []
            let answer = try await reader.answer(read, readOptions)
            guard let record = answer.records.first else {
                throw SluiceError(
                    .notFound, "there is no such record", table: read.table, recordID: read.key)
            }
            let value = names.reduce(Optional(record)) { $0?[$1] }
            return StoreResult(records: [], value: value ?? .null, provenance: joined(known, answer.provenance))
        }
    }

    /// Returns the read with the request's options.
    private func asked(_ read: TableRead) -> TableRead {
        var asked = TableRead(table: read.table, options: request.options, key: read.key, link: read.link)
        asked.options.expand = reader.schemas.spelled(request.options.expand, of: read.table)
        if let condition = read.options.filter { asked = asked.restricted(to: condition) }
        return asked
    }

    private func count(_ read: TableRead, _ known: StoreResult.Provenance?) async throws -> StoreResult {
        var options = ODataOptions()
        (options.filter, options.search, options.count, options.top) = (
            request.options.filter, request.options.search, true, 0
        )
        var counting = TableRead(table: read.table, options: options, link: read.link)
        if let condition = read.options.filter { counting = counting.restricted(to: condition) }
        let answer = try await reader.answer(counting, readOptions)
        return StoreResult(
            records: [], count: answer.count, value: answer.count.map { JSON($0) },
            provenance: joined(known, answer.provenance))
    }

    /// Returns the ids of the path's target.
    private func references(
        _ read: TableRead, _ place: Position, _ known: StoreResult.Provenance?
    ) async throws -> StoreResult {
        var linked = asked(read)
        linked.options.select = [ODataOptions.SelectItem("id")]
        linked.options.expand = []
        let answer = try await reader.answer(linked, readOptions)
        let ids = answer.records.map { JSON(members: [("id", $0["id"] ?? .null)] as [(PropertyName, JSON)]) }
        return StoreResult(records: ids, count: answer.count, provenance: joined(known, answer.provenance))
    }

    /// Follows a segment from a record.
    private func step(
        _ segment: ResourcePath.Segment, from read: TableRead, _ known: inout StoreResult.Provenance?
    ) async throws -> Position {
        let name = PropertyName(segment.name)
        guard let reference = reader.schemas.link(name, of: read.table) else {
            guard segment.arguments == nil, !segment.name.hasPrefix("$") else {
                throw refusal("cannot be followed at \(segment.name)")
            }
            return .property(read, [name])
        }
        let schema = reader.schemas[reference.table]
        var value = reference.column == "id" ? read.key.map { LinkValue($0) } : nil
        if reference.column != "id" || read.options.filter != nil {
            var owner = read
            owner.options.select = [ODataOptions.SelectItem(reference.column)]
            let answer = try await reader.answer(owner, readOptions)
            known = joined(known, answer.provenance)
            guard let record = answer.records.first else {
                if answer.provenance.source == .localPartial { return .nothing }
                throw SluiceError(.notFound, "there is no such record", table: read.table, recordID: read.key)
            }
            value = LinkValue(record, along: reference)
            if reference.isAssigned, reference.isCollection, LinkValue(record, reference.column) == nil,
                let id = value?.id
            {
                // References by its id exist only in this device's queue.
                let ids = try await reader.referring(to: id, along: reference)
                let isOne: QueryExpression =
                    ids.isEmpty ? .literal(.bool(false)) : .membership(.column("id"), ids.map { .id($0) })
                return try keyed(
                    TableRead(table: reference.table, options: ODataOptions()).restricted(to: isOne), segment)
            }
        }
        guard let value else { return .nothing }
        var next = TableRead(table: reference.table, options: ODataOptions())
        next.link = read.key.map { TableRead.Link(table: read.table, key: $0, name: reference.name) }
        var isByID = reference.targetColumn == "id"
        if reference.isAssigned, !reference.isCollection {
            isByID = try await reader.isMadeHere(value.id, in: reference.table)
        }
        if isByID {
            var one = next
            one.key = value.id
            return .entity(one)
        }
        let condition = QueryExpression.binary(
            .eq, .column(reference.targetColumn),
            .literal(value.literal(for: reference.targetColumn, of: schema)))
        next.link?.condition = condition
        let linked = next.restricted(to: condition)
        return reference.isCollection ? try keyed(linked, segment) : .set(linked)
    }

    /// Returns a set, or the record of it with the segment's key.
    private func keyed(_ read: TableRead, _ segment: ResourcePath.Segment) throws -> Position {
        guard let arguments = segment.arguments else { return .set(read) }
        guard let key = segment.recordID else {
            throw refusal("has no key in the parentheses after \(segment.name) (\(arguments.count) values)")
        }
        var one = read
        one.key = key
        return .entity(one)
    }

    /// Returns the first segment as a call: if it names an operation known to the store, or has parentheses after a
    /// name that no table has. v2's calls have their arguments in the query.
    private func operation(_ segment: ResourcePath.Segment, _ table: String) throws -> OperationCall? {
        guard let call = call(segment, table) else { return nil }
        var others = request.options
        (others.custom, others.aliases, others.format) = ([], [:], nil)
        guard others == ODataOptions() else {
            throw refusal(
                "has query options for a function, which are not applied to its result; write its arguments in parentheses"
            )
        }
        return call
    }

    private func call(_ segment: ResourcePath.Segment, _ table: String) -> OperationCall? {
        guard !reader.schemas.has(table) else { return nil }
        if reader.schemas.operations.contains(segment.name) {
            var values: [PropertyName: JSON] = [:]
            for argument in request.options.custom {
                let literal = try? QueryExpression(odata: argument.value)
                values[PropertyName(argument.name)] = literal.flatMap(constant) ?? JSON(argument.value)
            }
            for argument in segment.arguments ?? [] {
                guard let name = argument.name else { return nil }
                values[PropertyName(name)] = constant(argument.value)
            }
            return OperationCall(segment.name, values)
        }
        guard let arguments = segment.arguments else { return nil }
        let isKey = arguments.count == 1 && (arguments[0].name == nil || arguments[0].name?.lowercased() == "id")
        guard !isKey else { return nil }
        var values: [PropertyName: JSON] = [:]
        for argument in arguments {
            guard let name = argument.name else { return nil }
            values[PropertyName(name)] = constant(argument.value)
        }
        return OperationCall(segment.name, values)
    }

    /// Returns the constant, also of an alias.
    private func constant(_ expression: QueryExpression) -> JSON? {
        switch expression {
        case .literal(.string(let text)), .literal(.guid(let text)): JSON(text)
        case .literal(.number(let number)): JSON(number)
        case .literal(.bool(let value)): JSON(value)
        case .literal(.null): .null
        case .path(let path):
            if case .alias(let name) = path.root { request.options.aliases[name].flatMap(constant) } else { nil }
        default: JSON(expression.odata(.v4))
        }
    }

    private func joined(_ known: StoreResult.Provenance?, _ more: StoreResult.Provenance) -> StoreResult.Provenance {
        known?.joined(more) ?? more
    }

    private func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidQuery, "the address \(reason)") }
}
