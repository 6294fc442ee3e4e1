internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// The content of an old store as this store takes it: from the old queue and rows to changes and positions.
struct AdoptedContent {
    let mapper: TableMapper
    let digest: String
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
        let rows = try RowSurvey(file, mapper, queue, options, context.dialect.columns)
        report.tables = rows.tables
        report.notes += rows.notes
        for operation in queue.operations { try add(operation, rows) }
        try settleChains()
        let tokens = TokenAdoption(queue, mapper, options, rows, context.commitLag)
        (positions, report.tokens) = (tokens.positions, tokens.tokens)
        report.operations = changes.enumerated().map {
            AdoptionReport.Change($1, at: $0 + 1, versionName: context.dialect.columns.version)
        }
        if !options.leftTables.isEmpty {
            report.notes.append("left behind as told: \(options.leftTables.sorted().joined(separator: ", "))")
        }
    }

    // MARK: Changes

    private mutating func add(_ old: OldOperation, _ rows: RowSurvey) throws {
        guard let map = mapper.map(old.table) else { return }
        let columns = context.dialect.columns
        let (id, system) = (old.recordID, mapper.system)
        let row = rows.changed[RecordState.id(map.name, id)]
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
        let local = context.localOnly.columns[map.name] ?? []
        let whole =
            try old.isWhole
            ? old.item.map { try map.record(whole: $0, id: id, row: row, local: local, system) } : nil
        if old.kind == .delete {
            // The deleted record, so that it is there again if the delete is given up.
            var deleted = whole ?? old.item.map { map.wired($0, id: id, system) } ?? row ?? known
            deleted[columns.version] = version.map { JSON($0) }
            (change.base, change.mirror) = (version == nil ? nil : known, deleted)
        } else {
            guard let record = whole ?? row else { return leave("its record is gone from the old store") }
            try RecordRules.validate(depthOf: record, id: id, table: map.name)
            change.record = record
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
        var last: [RecordID: Int] = [:]
        for (place, change) in changes.enumerated() {
            last[RecordState.id(change.operation.table, change.operation.recordID)] = place
        }
        var kept: [StoreAdoption.Change] = []
        for (place, change) in changes.enumerated() {
            let operation = change.operation
            let end = last[RecordState.id(operation.table, operation.recordID)] ?? place
            guard end != place, changes[end].operation.kind == .delete, operation.kind == .update else {
                kept.append(change)
                continue
            }
            report.leftOut.append(
                .init(
                    kind: operation.kind.rawValue, table: operation.table, recordID: operation.recordID,
                    oldID: operation.id, reason: "a delete of its record follows, and its content is gone"))
        }
        changes = kept
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
