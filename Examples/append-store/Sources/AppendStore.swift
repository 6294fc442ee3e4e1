internal import Glibc
public import SluiceCore
internal import Synchronization

/// A store in one file that only grows while it is open: each transaction is a line at its end.
///
/// All records are in memory too, in the engine's own `MemoryStore`, which answers the queries. A transaction counts
/// when its line is on the disk; a last line that a power cut has torn is cut off at the next opening, and with it a
/// transaction that nobody was told of. Opening writes the file anew where most of it is out of date. Right for a few
/// thousand records.
public final class AppendStore: LocalStore {
    private let memory = MemoryStore()
    private let file: AppendFile
    /// The tables as the file is known to have them: a declaration that it could not take is written with the next.
    private let declared = Mutex<Set<TableSchema>>([])

    /// Opens the file, or makes it.
    ///
    /// - Throws: `SluiceError` of code `storeBusy` where another has it open, `storeInputOutput` where it cannot be
    ///   read or written, `storeNotADatabase` for a file that is something else, `storeCorrupt` for a damaged one.
    public init(path: String) async throws {
        file = try AppendFile(path: path)
        let lines = try file.lines()
        for line in lines { try await apply(line) }
        if lines.count > 64 { try await rewrite(ifFewerThan: lines.count / 4) }
    }

    /// Declares tables, and notes what is new of them.
    public func define(_ tables: [TableSchema]) async throws {
        try await memory.define(tables)
        let all = try await memory.read { try Set($0.tables()) }
        if declared.withLock({ $0 }) == all { return }
        try file.append(["define": JSON(all.map(\.json))])
        declared.withLock { $0 = all }
    }

    /// Reads the records in memory.
    public func read<Result: Sendable>(_ body: @Sendable (any StoreReader) throws -> Result) async throws -> Result {
        try await memory.read(body)
    }

    /// Changes the records in memory once the change is in the file.
    public func write<Result: Sendable>(_ body: @Sendable (any StoreWriter) throws -> Result) async throws -> Result {
        try await memory.write { writer in
            let recorder = Recorder(writer)
            let result = try body(recorder)
            if !recorder.changes.isEmpty { try self.file.append(["change": JSON(recorder.changes)]) }
            if recorder.changes.contains(where: { $0[2] == nil }) { self.declared.withLock { $0 = [] } }
            return result
        }
    }

    /// Closes the file.
    public func close() async throws {
        try await memory.close()
        file.close()
    }

    /// One at a time, in this process: no other has the file open.
    public func takeLease() async throws -> StoreLease? { try await memory.takeLease() }
    /// Takes the lease away.
    public func breakLease() async throws { try await memory.breakLease() }

    private func apply(_ line: JSON) async throws {
        if let tables = line["define"]?.elements { return try await memory.define(tables.map(TableSchema.init)) }
        guard let changes = line["change"]?.elements else { throw unknown }
        try await memory.write { writer in
            for change in changes {
                let table = change[1]?.string ?? ""
                switch (change[0]?.string, change[2]?.string) {
                case ("put", let record?): try writer.put(JSON(parsing: record), in: table)
                case ("delete", let id?): try writer.delete([RecordID(id)], from: table)
                case ("drop", nil): try writer.drop(table)
                case ("redeclare", nil): try writer.redeclare(TableSchema(change[1] ?? .null))
                default: throw unknown
                }
            }
        }
    }

    /// Writes what is there now to a new file, which then takes the old one's place, if they are so few.
    private func rewrite(ifFewerThan most: Int) async throws {
        let tables = try await memory.read { try $0.tables() }
        let changes = try await memory.read { reader in
            try tables.map(\.name).flatMap { table in
                try reader.records(matching: TableQuery(table)).map { Recorder.put($0, in: table) }
            }
        }
        guard changes.count < most else { return }
        try file.replace(with: [["define": JSON(tables.map(\.json))], ["change": JSON(changes)]])
    }
}

private let unknown = SluiceError(.storeCorrupt, "a line of the store means nothing to this version")

/// Passes everything on, and notes what is changed.
private final class Recorder: StoreWriter {
    private let writer: any StoreWriter
    private(set) var changes: [JSON] = []

    init(_ writer: any StoreWriter) { self.writer = writer }

    func record(_ id: RecordID, in table: String) throws -> JSON? { try writer.record(id, in: table) }
    func records(matching query: TableQuery) throws -> [JSON] { try writer.records(matching: query) }
    func count(matching query: TableQuery) throws -> Int { try writer.count(matching: query) }
    func tables() throws -> [TableSchema] { try writer.tables() }

    func put(_ record: JSON, in table: String) throws {
        try writer.put(record, in: table)
        changes.append(Self.put(record, in: table))
    }

    /// As text: a record may nest as deep as a document may, and so is no part of one.
    static func put(_ record: JSON, in table: String) -> JSON { ["put", JSON(table), JSON("\(record)")] }

    func redeclare(_ table: TableSchema) throws {
        try writer.redeclare(table)
        changes.append(["redeclare", table.json])
    }

    func drop(_ table: String) throws {
        try writer.drop(table)
        changes.append(["drop", JSON(table)])
    }

    func delete(_ ids: [RecordID], from table: String) throws {
        try writer.delete(ids, from: table)
        changes += ids.map { ["delete", JSON(table), JSON($0)] }
    }

    func delete(matching query: TableQuery) throws -> Int {
        // By their ids, so that the line says the same whatever a query may mean in a later version.
        let ids = try writer.records(matching: TableQuery(query.table, filter: query.filter)).compactMap {
            $0["id"]?.string.map(RecordID.init)
        }
        try delete(ids, from: query.table)
        return ids.count
    }
}

extension TableSchema {
    fileprivate var json: JSON {
        let columns = columns.map { [JSON($0.name), JSON($0.type.rawValue)] as JSON }
        let indexes = indexes.map { JSON($0.map { JSON($0) }) }
        return ["name": JSON(name), "columns": JSON(columns), "indexes": JSON(indexes)]
    }

    fileprivate init(_ json: JSON) throws {
        guard let name = json["name"]?.string else { throw unknown }
        let columns = (json["columns"]?.elements ?? []).compactMap { column in
            column[1]?.string.flatMap(ColumnType.init).map { Column(PropertyName(column[0]?.string ?? ""), $0) }
        }
        let indexes = (json["indexes"]?.elements ?? []).map {
            ($0.elements ?? []).compactMap { $0.string.map(PropertyName.init) }
        }
        self.init(name, columns: columns, indexes: indexes)
    }
}
