internal import Foundation
internal import SluiceCore
internal import SluiceSQLite

/// A table of the backend: records with the server's columns. The functions work in the caller's transaction.
struct BackendTable: Sendable {
    let rules: BackendConfiguration.Table
    /// The declared columns missing in the database, because the table was in use when they were to be added.
    let missing: [PropertyName]
    private let records: any RecordStorage

    var name: String { rules.name }

    private init(
        _ rules: BackendConfiguration.Table, _ records: any RecordStorage, missing: [PropertyName] = []
    ) {
        self.rules = rules
        self.records = records
        self.missing = missing
    }

    /// Returns the records with the database's current columns.
    func stored(_ connection: any StorageConnection) throws -> any RecordStorage {
        try connection.current(records)
    }

    /// Creates the table with its seed, or opens it and adds newly declared columns. If the table is in use it is
    /// opened without them (``missing``); their values are then kept with the properties without a column.
    static func open(
        _ rules: BackendConfiguration.Table, environment: SyncEnvironment, _ connection: any StorageConnection
    ) throws -> BackendTable {
        if let columns = try BackendCatalog.columns(of: rules.name, connection) {
            let held = TableSchema(rules.name, columns: columns)
            guard (held.column(SystemColumn.number) != nil) == (rules.ids == .integer) else {
                throw SluiceError(.storeSchema, "the table was made with ids of the other kind", table: rules.name)
            }
            let records = try connection.records(held)
            try records.check(rules, on: connection)
            let wanted = try StoreRules.merge(TableSchema(rules.name, columns: rules.storedColumns), into: held)
            guard try wanted == held || records.extend(to: wanted, on: connection) != nil else {
                let names = wanted.columns.dropFirst(held.columns.count).map(\.name)
                return BackendTable(rules, records.with(wanted), missing: names)
            }
            if wanted != held { try BackendCatalog.setColumns(wanted.columns, of: rules.name, connection) }
            let table = BackendTable(rules, records.with(wanted))
            try table.createIndexes(connection)
            return table
        }
        guard rules.key == nil else {
            throw SluiceError(
                .storeSchema, "the table has a key, so it is the operator's; adopt it first: sluice backend adopt",
                table: rules.name)
        }
        let seed = try rules.seed.map { try SeedFile.records($0, table: rules.name) } ?? []
        var columns = rules.storedColumns
        if rules.columns.isEmpty {
            for column in SchemaInference.columns(of: seed, table: rules.name) where column.name != rules.perUser {
                columns.append(column)
            }
        }
        let schema = try StoreRules.merge(
            TableSchema(rules.name, columns: columns + SystemColumn.declared), into: nil)
        let table = BackendTable(rules, try connection.records(schema))
        try table.records.create(on: connection)
        try table.createIndexes(connection)
        try BackendCatalog.setColumns(schema.columns, of: rules.name, connection)
        try table.plant(seed, environment, connection)
        return table
    }

    /// Creates the indexes for pulls, with the owner first in a table of several users, and for following links.
    private func createIndexes(_ connection: any StorageConnection) throws {
        let time = TableQuery.SortKey(SystemColumn.updatedAt)
        var indexes = [("\(name)(updatedAt)", [time])]
        if let owner = rules.perUser { indexes.append(("\(name)(owner,updatedAt)", [.init(owner), time])) }
        for column in Set(rules.references.map(\.column)).sorted() {
            indexes.append(("\(name)(\(column))", [.init(column)]))
        }
        for (index, keys) in indexes { try records.createIndex(index, keys, on: connection) }
    }

    /// Inserts the seed's records with times in the past, a millisecond apart, so that pages can begin between them.
    private func plant(_ seed: [JSON], _ environment: SyncEnvironment, _ connection: any StorageConnection) throws {
        let millisecond = Timestamp.ticksPerSecond / 1000
        let span = (Int64(seed.count) + 3_600_000) * millisecond
        let first = (environment.now().ticks - span) / millisecond * millisecond
        for (index, record) in seed.enumerated() {
            guard record.kind == .object else {
                throw SluiceError(.invalidRecord, "record \(index) of the seed is no object", table: name)
            }
            var planted = record
            if planted["id"] == nil { planted["id"] = JSON(try makeID(environment, connection)) }
            if rules.ids == .integer, let number = planted["id"]?.int, number > 0 { planted["id"] = JSON("\(number)") }
            guard let id = planted["id"]?.textID else {
                throw SluiceError(.invalidRecord, "the id of record \(index) of the seed is no text", table: name)
            }
            try IDRules.validate(id: id, table: name, isNew: true)
            if rules.ids == .integer { try BackendCatalog.noteID(try number(of: id), connection) }
            guard try self.record(id, connection) == nil else {
                throw SluiceError(.recordExists, "the seed holds this id twice", table: name, recordID: id)
            }
            let time = Timestamp(ticks: first + Int64(index) * millisecond)
            planted[SystemColumn.createdAt] = JSON(time.description)
            planted[SystemColumn.deleted] = JSON(rules.softDelete && record[SystemColumn.deleted]?.bool == true)
            _ = try put(planted, now: time, connection)
        }
    }

    // MARK: Reading

    /// The columns, including the server's own.
    var schema: TableSchema { records.schema }

    /// Whether the table has columns of its own, declared or found in the seed.
    var isTyped: Bool {
        // The owner's column exists even without declared columns.
        schema.columns.contains {
            !SystemColumn.all.contains($0.name) && $0.name != rules.perUser && !SystemColumn.hidden.contains($0.name)
        }
    }

    func record(_ id: RecordID, _ connection: any StorageConnection) throws -> JSON? {
        try stored(connection).record(id, on: connection)
    }

    func records(matching query: TableQuery, _ connection: any StorageConnection) throws -> [JSON] {
        try stored(connection).records(matching: inOrder(query), on: connection)
    }

    func inOrder(_ query: TableQuery) -> TableQuery {
        var query = query
        // Equal records are sorted by id, integer ids as numbers.
        if rules.ids == .integer { query.order.append(TableQuery.SortKey(SystemColumn.number)) }
        return query
    }

    /// The columns that are not the server's own.
    var ownColumns: [PropertyName] {
        schema.columns.map(\.name).filter { !SystemColumn.all.contains($0) && !SystemColumn.hidden.contains($0) }
    }

    /// Appends the records of a page as JSON objects with commas between them.
    ///
    /// - Parameters:
    ///   - completes: whether null is shown for missing properties that other records have.
    ///   - whole: returns the shown form of a record that cannot be written column by column.
    /// - Returns: their number, and whether there are more.
    func append(
        _ query: TableQuery, _ size: PageSize, _ members: [RecordText.Member], completes: Bool, to text: inout [UInt8],
        _ connection: any StorageConnection, whole: @escaping (JSON) -> JSON
    ) throws -> (count: Int, hasMore: Bool) {
        let known = completes ? try knownProperties(connection) : nil
        let shown = ListText(members: members, inexact: Set(ownColumns), completing: known) { record in
            whole(known.map { completed(record, with: declaredNames + $0) } ?? record)
        }
        return try stored(connection).append(inOrder(query), size, shown, to: &text, on: connection)
    }

    func count(matching query: TableQuery, _ connection: any StorageConnection) throws -> Int {
        try stored(connection).count(matching: query, on: connection)
    }

    /// Walks over the ids and versions of the records that match, by id.
    func scan(
        matching filter: QueryExpression?, _ connection: any StorageConnection,
        _ body: (_ id: RecordID, _ version: String) throws -> Void
    ) throws {
        try stored(connection).scan(matching: filter, on: connection, body)
    }

    // MARK: Writing

    /// Returns a new id, never used by a record.
    func makeID(_ environment: SyncEnvironment, _ connection: any StorageConnection) throws -> RecordID {
        switch rules.ids {
        case .string: RecordID(environment.makeID())
        case .integer:
            RecordID(
                String(try stored(connection).nextNumber(on: connection) ?? BackendCatalog.makeNumber(connection)))
        }
    }

    /// Returns the number of an integer id.
    private func number(of id: RecordID) throws -> Int64 {
        guard let number = Int64(id.text), number > 0, RecordID(String(number)) == id else {
            throw SluiceError(.invalidRecord, "the ids of this table are integers from 1 on", table: name, recordID: id)
        }
        return number
    }

    /// Stores the record with a new version and time, and returns the stored record.
    func put(_ record: JSON, now: Timestamp, _ connection: any StorageConnection) throws -> JSON {
        let stamp = try BackendCatalog.stamp(name, now: now, connection)
        var record = record
        if record[SystemColumn.createdAt] == nil { record[SystemColumn.createdAt] = JSON(stamp.time.description) }
        record[SystemColumn.updatedAt] = JSON(stamp.time.description)
        record[SystemColumn.version] = JSON(stamp.version)
        if record[SystemColumn.deleted] == nil { record[SystemColumn.deleted] = false }
        if rules.ids == .integer, let id = record["id"]?.textID {
            record[SystemColumn.number] = JSON(try number(of: id))
        }
        record[SystemColumn.left] = nil
        guard let view = rules.view, let id = record["id"]?.textID else { return try store(record, connection) }
        let wasSeen = try isRecord(id, in: view, connection)
        if !wasSeen { record[SystemColumn.left] = try self.record(id, connection)?[SystemColumn.left] }
        record = try store(record, connection)
        if wasSeen, try !isRecord(id, in: view, connection) {
            record[SystemColumn.left] = JSON(stamp.time.description)
            record = try store(record, connection)
        }
        return record
    }

    /// Stores the record unchanged, and returns the stored record.
    @discardableResult
    func store(_ record: JSON, _ connection: any StorageConnection) throws -> JSON {
        let stored = try stored(connection)
        if showsAllRecords {
            let columns = Set(stored.schema.columns.map(\.name) + SystemColumn.hidden + ["id"])
            try KnownProperties.note(record.names.filter { !columns.contains($0) }, of: name, connection)
        }
        return try stored.put(record, on: connection)
    }

    private func isRecord(
        _ id: RecordID, in view: QueryExpression, _ connection: any StorageConnection
    ) throws -> Bool {
        let isIt = QueryExpression.binary(.eq, .column("id"), .literal(.id(id)))
        return try count(matching: TableQuery(name, filter: .binary(.and, isIt, view)), connection) > 0
    }

    /// Removes the record for good. Change tokens from before its tombstone, or before this removal, become invalid.
    func remove(_ id: RecordID, now: Timestamp, _ connection: any StorageConnection) throws {
        guard let record = try record(id, connection) else { return }
        if record[SystemColumn.deleted]?.bool == true,
            let time = record[SystemColumn.updatedAt]?.string.flatMap({ Timestamp($0) })
        {
            try BackendCatalog.noteRemoval(of: name, tombstone: time, connection)
        } else {
            try BackendCatalog.noteRemoval(of: name, now: now, connection)
        }
        try stored(connection).delete([id], on: connection)
    }
}

/// A table's first records.
enum SeedFile {
    /// Reads the records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place of a mistake.
    static func records(_ seed: BackendConfiguration.Seed, table: String) throws(SluiceError) -> [JSON] {
        let path: String
        switch seed {
        case .records(let records): return records
        case .file(let file): path = file
        }
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SluiceError(.invalidArgument, "the seed file \(path) cannot be read", table: table, cause: error)
        }
        let document: JSON
        do {
            document = try JSON(parsing: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "the seed file \(path) is not JSON", table: table, cause: error)
        }
        if let records = document.elements { return records }
        for name in ["records", "rows", table] {
            if let records = document[name]?.elements { return records }
        }
        throw SluiceError(
            .invalidArgument,
            "the seed file \(path) is neither an array of records nor an object with one under records, rows or "
                + table, table: table)
    }
}
