internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// The content of an old store as this store takes it: from the old queue and rows to changes and positions.
struct AdoptedContent {
    let mapper: TableMapper
    let digest: String
    private(set) var records: [String: Int] = [:]
    private(set) var changes: [StoreAdoption.Change] = []
    private(set) var positions: [StoreAdoption.Position] = []
    private(set) var report: AdoptionReport

    private let file: OldFile
    private let options: AdoptionOptions
    private let context: Context

    /// The new store's side.
    struct Context: Sendable {
        let dialect: Dialect
        let environment: SyncEnvironment
        let commitLag: Duration
        let localOnly: LocalOnly
    }

    init(
        _ file: OldFile, _ fingerprint: Fingerprint, _ options: AdoptionOptions, _ context: Context
    ) throws {
        (self.file, self.options, self.context) = (file, options, context)
        let queue = try OldQueue(file, fingerprint.format)
        let names = try FormatNames(fingerprint.format, file, queue)
        let system = SystemNames(columns: context.dialect.columns)
        mapper = try TableMapper(file, names, fingerprint, options, system)
        report = AdoptionReport(format: fingerprint.format)
        digest = try file.digest()
        let missing = Set(queue.operations.map(\.table)).filter { mapper.map($0) == nil }.sorted()
        let unknown = mapper.unknown + missing.map { "changes wait for a table \($0), which is not there" }
        guard unknown.isEmpty else {
            throw SluiceError(
                .unsupported,
                "nothing is adopted, because not all of the old store is known: " + unknown.joined(separator: "; "))
        }
        report.notes = queue.notes + mapper.notes
        let rows = try readRows(queue)
        for operation in queue.operations { try add(operation, rows) }
        try settleChains()
        for token in queue.tokens { add(token) }
        report.operations = changes.enumerated().map {
            AdoptionReport.Change($1, at: $0 + 1, versionName: context.dialect.columns.version)
        }
        if !options.leftTables.isEmpty {
            report.notes.append("left behind as told: \(options.leftTables.sorted().joined(separator: ", "))")
        }
    }

    // MARK: Rows

    /// A row with a waiting change.
    private struct Key: Hashable {
        let table: String
        let id: RecordID
    }

    /// Reads every row once, so that nothing is refused in the midst of the adoption.
    ///
    /// - Returns: the records with waiting changes.
    private mutating func readRows(_ queue: OldQueue) throws -> [Key: JSON] {
        let waiting = Set(
            queue.operations.compactMap { operation in
                mapper.map(operation.table).map { Key(table: $0.name, id: operation.recordID) }
            })
        var rows: [Key: JSON] = [:]
        for map in mapper.maps {
            var (count, unversioned, numbers) = (0, 0, Set<String>())
            try file.forEachRow(of: map.source) { row in
                let record = try map.record(row, utc: options.utc)
                let key = Key(table: map.name, id: RecordID(record["id"]?.string ?? ""))
                try IDRules.validate(id: key.id, table: map.name)
                count += 1
                if record[context.dialect.columns.version] == nil, !waiting.contains(key) { unversioned += 1 }
                if waiting.contains(key) { rows[key] = record }
                for column in map.columns where column.form == .text {
                    switch row.values[column.source] {
                    case .integer?, .real?: numbers.insert(column.source)
                    default: break
                    }
                }
            }
            records[map.name] = count
            report.tables.append(.init(table: map.name, oldTable: map.source, records: count))
            if unversioned > 0 {
                report.notes.append(
                    "\(unversioned.counted("record")) of \(map.name) without a version: a change of such a record is compared "
                        + "with the server's before it is sent")
            }
            for column in numbers.sorted() {
                report.notes.append(
                    "\(map.source).\(column) holds numbers where texts are declared: what was written as 007 is 7 there"
                )
            }
        }
        return rows
    }

    // MARK: Changes

    private mutating func add(_ old: OldOperation, _ rows: [Key: JSON]) throws {
        guard let map = mapper.map(old.table) else { return }
        let columns = context.dialect.columns
        let (id, system) = (old.recordID, mapper.system)
        let row = rows[Key(table: map.name, id: id)]
        func leave(_ reason: String) {
            report.leftOut.append(
                .init(kind: old.kind.rawValue, table: map.name, recordID: id, oldID: old.id, reason: reason))
        }
        if let reason = old.leftOut { return leave(reason) }
        var operation = TableOperation(
            id: operationID(old), sequence: 0, table: map.name, recordID: id, kind: old.kind,
            createdAt: context.environment.now())
        let version =
            switch old.base {
            case .row: row?[columns.version]?.string
            case .version(let version): version
            }
        var known: JSON = ["id": JSON(id)]
        if let version { known[columns.version] = JSON(version) }
        var change = StoreAdoption.Change(operation: operation, record: nil, base: nil, mirror: nil)
        if old.kind == .delete {
            // The deleted record, so that it is there again if the delete is given up.
            var deleted = old.item.map { map.wired($0, id: id, system) } ?? row ?? known
            deleted[columns.version] = version.map { JSON($0) }
            (change.base, change.mirror) = (version == nil ? nil : known, deleted)
        } else {
            let local = context.localOnly.columns[map.name] ?? []
            if let item = old.item, old.isWhole {
                change.record = try map.record(whole: item, id: id, row: row, local: local, system)
            } else {
                change.record = row
            }
            guard let record = change.record else { return leave("its record is gone from the old store") }
            try RecordRules.validate(depthOf: record, id: id, table: map.name)
            if old.kind == .update { (change.base, change.mirror) = (version == nil ? nil : known, known) }
        }
        let server = old.serverItem.map { map.wired($0, id: id, system) }
        if OldOutcome(old, server: server, columns.version).apply(to: &operation) { change.mirror = server }
        change.operation = operation
        changes.append(change)
    }

    private func operationID(_ old: OldOperation) -> String {
        // Without an id of its own, the number in that content is one.
        guard let id = old.id, OldOperation.isID(id) else { return "\(digest)-\(old.number)" }
        return id
    }

    /// Settles several changes of one record: the content of an earlier one is not in the old store.
    private mutating func settleChains() throws {
        var last: [Key: Int] = [:]
        for (place, change) in changes.enumerated() {
            last[Key(table: change.operation.table, id: change.operation.recordID)] = place
        }
        var kept: [StoreAdoption.Change] = []
        for (place, change) in changes.enumerated() {
            let operation = change.operation
            let key = Key(table: operation.table, id: operation.recordID)
            if let end = last[key], end != place, changes[end].operation.kind == .delete, operation.kind == .update {
                report.leftOut.append(
                    .init(
                        kind: operation.kind.rawValue, table: operation.table, recordID: operation.recordID,
                        oldID: operation.id, reason: "a delete of its record follows, and its content is gone"))
            } else {
                kept.append(change)
            }
        }
        changes = kept
    }

    // MARK: Tokens

    private mutating func add(_ token: OldToken) {
        var (table, query) = (token.table, token.query)
        if token.isJoined {
            // The longest table's name that the key begins with.
            let found = mapper.maps.map(\.name).filter { token.table.lowercased().hasPrefix($0.lowercased() + "_") }
                .max { $0.utf8.count < $1.utf8.count }
            if let found { (table, query) = (found, String(token.table.dropFirst(found.count + 1))) }
        }
        let name = mapper.map(table)?.name ?? table
        func note(_ reason: String, taken: Timestamp? = nil) {
            report.tokens.append(.init(table: name, query: query, time: token.time, startsAt: taken, reason: reason))
        }
        guard let time = token.time else { return note("nothing was pulled by this query") }
        guard let map = mapper.map(table) else { return note("the old store has no such table") }
        let pulls = options.queries.filter { pull in
            pull.query.table == map.name && pull.name != nil
                && (query.map { pull.name == $0 } ?? (pull.query.filter == nil && pull.query.parameters.isEmpty))
        }
        guard !pulls.isEmpty else {
            return note(
                "no query of that name and table is configured, so the old one's text is not known; the next pull reads afresh"
            )
        }
        // Rows that were committed late may be missing before the old time, as before a saved time of one's own.
        let start = time.advanced(by: .zero - context.commitLag)
        for pull in pulls {
            positions.append(.init(query: pull.query, name: pull.name ?? "", time: start))
            note("goes on by time of change as the query \(pull.name ?? "")", taken: start)
        }
    }
}

extension OldOperation {
    /// Whether the old id can be an operation's here: letters, digits, `-`, `_` and `.`, up to 128.
    static func isID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || [0x2D, 0x2E, 0x5F].contains($0) }
    }
}

extension OldQueue {
    init(_ file: OldFile, _ format: OldStoreFormat) throws {
        switch format {
        case .net: try self.init(net: file, isDatasync: false)
        case .datasync: try self.init(net: file, isDatasync: true)
        case .toolkit: try self.init(toolkit: file)
        case .javascript: try self.init(javascript: file)
        case .android: try self.init(android: file)
        case .ios: try self.init(ios: file)
        }
    }
}
