internal import SluiceBase
internal import SluiceSync

/// The requests that an offline store can answer completely at this moment.
struct OfflineCoverage: Sendable {
    /// The result of a check.
    struct Finding: Sendable {
        var coverage: Coverage
        /// The oldest download that the answer depends on.
        var asOf: Timestamp?
        /// The owner of the link, if the answer is covered because of the link.
        var owner: JSON?
        /// The coverage that produced the result.
        var by: OfflineCoverage?
    }

    private let schemas: StoreSchemas
    /// The defining requests that were downloaded completely, and whose records were not purged since.
    private let complete: [DefinedRequest]
    /// The reasons why the others do not count, by name.
    private let incomplete: [String: String]
    /// The number of rows of each table that could not be stored.
    private let quarantined: [String: Int]

    /// - Parameters:
    ///   - endpoint: the server whose cursors count; nil for those of any server.
    ///   - user: the user whose cursors count.
    init(schemas: StoreSchemas, endpoint: String?, user: String, in store: any StoreReader) throws {
        self.schemas = schemas
        var complete: [DefinedRequest] = []
        var incomplete: [String: String] = [:]
        for request in try DefinedRequest.all(in: store) {
            let name = request.request.name
            if request.downloadedAt == nil {
                let reason = request.failure.map { ": \($0)" } ?? ""
                incomplete[name] = "\"\(name)\" has not been downloaded completely yet\(reason)"
            } else if try !Self.holds(request.parts[0], endpoint, user, store) {
                incomplete[name] = "what \"\(name)\" brought was purged since; it has to be downloaded again"
            } else {
                var request = request
                let linked = request.parts.dropFirst()
                if try !linked.allSatisfy({ try Self.holds($0, endpoint, user, store) }) { request.isExpanded = false }
                complete.append(request)
            }
        }
        for request in complete where !request.isExpanded && !request.request.options.expand.isEmpty {
            let name = request.request.name
            incomplete[name] = "what the records of \"\(name)\" are linked to was not downloaded completely"
        }
        self.complete = complete
        self.incomplete = incomplete
        var quarantined: [String: Int] = [:]
        for table in Set(complete.flatMap { $0.parts.map(\.table) }) {
            let ofTable = QueryExpression.binary(.eq, .column("table"), .literal(.string(table)))
            quarantined[table] = try store.count(matching: TableQuery(QuarantinedRow.schema.name, filter: ofTable))
        }
        self.quarantined = quarantined
    }

    /// Whether a pull of the query has completed and still holds. A purged cursor, or one that starts over, has no
    /// position and needs a reconcile. A set that is always read completely, or was empty, has no position either: then
    /// a finished pull counts.
    private static func holds(
        _ part: DefinedRequest.Part, _ endpoint: String?, _ user: String, _ store: any StoreReader
    ) throws -> Bool {
        func equals(_ column: PropertyName, _ value: String) -> QueryExpression {
            .binary(.eq, .column(column), .literal(.string(value)))
        }
        var condition = QueryExpression.binary(.and, equals("name", part.name), equals("user", user))
        if let endpoint { condition = .binary(.and, condition, equals("endpoint", endpoint)) }
        return try Cursor.all(of: part.table, where: condition, in: store).contains {
            $0.position != nil || ($0.pulledAt != nil && !$0.needsReconcile)
        }
    }

    /// Returns whether the store has the whole answer to a read.
    ///
    /// - Parameters:
    ///   - local: the record of the requested key, if it is on the device.
    ///   - isMadeHere: whether that record was created locally and no server has it yet.
    ///   - owner: the record whose link led to the requested ones, if it is on the device.
    func finding(for read: TableRead, local: JSON?, isMadeHere: Bool, owner: JSON? = nil) -> Finding {
        let checker = CoverageChecker(complete.map(\.covering), schemas: schemas.all)
        var coverage = checker.coverage(of: read.wholeOptions, in: read.table)
        if !coverage.isCovered, let local, let key = read.key {
            if isMadeHere, read.options.expand.isEmpty {
                coverage = .covered(by: [], because: ["the record was made here and the service does not have it yet"])
            } else {
                coverage = held(local, key, read, checker) ?? coverage
            }
        }
        var linkedTo: JSON?
        if !coverage.isCovered, let owner, let outer = read.asExpansion, let key = outer.key,
            let whole = held(owner, key, outer, checker, isWhole: true)
        {
            coverage = whole
            linkedTo = owner
        }
        let tables = tables(of: read)
        if coverage.isCovered, let bad = tables.sorted().first(where: { quarantined[$0] ?? 0 > 0 }) {
            coverage = .uncovered(
                because: ["\(quarantined[bad] ?? 0) rows of \(bad) could not be stored (see the quarantine)"],
                example: nil)
        }
        if case .uncovered(var reasons, let example) = coverage {
            for name in incomplete.keys.sorted() { reasons.append(incomplete[name] ?? "") }
            coverage = .uncovered(because: reasons, example: example)
        }
        let involved = complete.filter { $0.parts.contains { tables.contains($0.table) } }
        if case .covered(let names, var reasons) = coverage {
            for request in involved {
                guard let failure = request.failure else { continue }
                reasons.append("the last download of \"\(request.request.name)\" failed: \(failure)")
            }
            coverage = .covered(by: names, because: reasons)
        }
        return Finding(coverage: coverage, asOf: involved.compactMap(\.downloadedAt).min(), owner: linkedTo, by: self)
    }

    /// Whether the store has every record of a table that matches such options.
    func holds(_ options: ODataOptions, in table: String) -> Bool {
        var options = options
        // Expansions of the linked records are checked by themselves.
        (options.expand, options.levels) = ([], nil)
        return CoverageChecker(complete.map(\.covering), schemas: schemas.all).coverage(of: options, in: table)
            .isCovered
    }

    /// Returns the coverage of a record that the device holds by any request, even if the request's filter does not
    /// follow from the key.
    ///
    /// - Parameter isWhole: whether requests without a filter are checked too.
    private func held(
        _ record: JSON, _ key: RecordID, _ read: TableRead, _ checker: CoverageChecker, isWhole: Bool = false
    ) -> Coverage? {
        for defined in complete where defined.request.table == read.table {
            let filter = defined.request.options.filter
            guard filter != nil || isWhole,
                let evaluator = try? TableQuery.Evaluator(
                    TableQuery(read.table, filter: filter), schema: schemas[read.table]), evaluator.matches(record)
            else { continue }
            var asked = read.wholeOptions
            if let filter { asked.filter = asked.filter.map { .binary(.and, filter, $0) } ?? filter }
            let coverage = checker.coverage(of: asked, in: read.table)
            if case .covered(let names, _) = coverage {
                return .covered(by: names, because: ["the record is held by \"\(defined.request.name)\""])
            }
        }
        return nil
    }

    /// Returns the tables that a read uses.
    private func tables(of read: TableRead) -> Set<String> {
        var found: Set<String> = [read.table]
        func add(_ items: [ODataOptions.ExpandItem], of table: String, depth: Int) {
            guard depth < Expansion.maximumDepth else { return }
            for item in items {
                guard let reference = item.name.flatMap({ schemas[table].reference($0) }) else { continue }
                found.insert(reference.table)
                add(item.options.expand, of: reference.table, depth: depth + 1)
            }
        }
        add(read.options.expand, of: read.table, depth: 0)
        return found
    }
}
