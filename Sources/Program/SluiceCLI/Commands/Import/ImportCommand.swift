internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct ImportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the records of a file locally; the next push sends them.",
        discussion: """
            The file is CSV, whose first line names the columns, or has one JSON object a line. In CSV columns that are \
            declared for the table become what they are declared as, and all others are texts; in JSON values are checked \
            against what is declared. On an error the steps before it stay, \
            and a repeat with --upsert goes on from them.
            """)

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Option(help: ArgumentHelp("What the file is: csv or jsonl. Else its name tells.", valueName: "format"))
    var format: ImportFile.Format?

    @Option(
        help: ArgumentHelp(
            "What is between the fields of CSV: a character such as ;, or tab. Else a comma.", valueName: "character"))
    var separator: CSVSeparator?

    @Option(
        help: ArgumentHelp("The column that becomes the record's id; else id, if it is there.", valueName: "column"))
    var id: String?

    @Flag(help: "Update the records that are here already, with what the file says otherwise.")
    var upsert = false

    @Option(help: ArgumentHelp("How many records are written at once; all for all or none.", valueName: "number"))
    var step = ImportStep.records(1000)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try SyncTables.validate(table)
        let settings = try ClientSettings(connection)
        var input = try ImportFile(
            file, format: format, separator: separator, idColumn: id.map { PropertyName($0) }, needsID: upsert)
        return try await ClientSession.run(settings, usesNetwork: false, asksPlugins: true, makesStore: true) {
            session in
            var work = RecordImport(
                session, table: table, step: step, upserts: upsert, leavesOutNulls: input.format == .csv)
            let bar = ProgressBar("import \(table)", noun: "record")
            defer { bar.finish() }
            do {
                try await work.run(&input) { bar.update($0) }
                let notes =
                    RecordArgument.notes(leftOut: work.leftOut) + (work.deleted == 0 ? [] : [deletions(work.deleted)])
                return Outcome(json: json(work), text: ["import \(table): \(words(of: work.tally))"] + notes)
            } catch let problem as ImportFile.Problem {
                var outcome = Outcome(json: json(work), text: [])
                outcome.add(failure(problem, in: input, work))
                return outcome
            }
        }
    }

    private func json(_ work: RecordImport) -> JSON {
        var json: JSON = [
            "table": JSON(table), "read": JSON(work.read), "inserted": JSON(work.tally.inserted),
            "updated": JSON(work.tally.updated), "unchanged": JSON(work.tally.unchanged),
        ]
        if work.deleted > 0 { json["deleted"] = JSON(work.deleted) }
        if !work.leftOut.isEmpty { json["leftOut"] = JSON(work.leftOut.sorted().map { JSON($0.text) }) }
        return json
    }

    private func deletions(_ count: Int) -> String {
        "left out: \(Plain.count(count, "record")) marked as deleted (sluice delete removes one that is here)"
    }

    private func words(of tally: RecordImport.Tally) -> String {
        let parts = [(tally.inserted, "inserted"), (tally.updated, "updated"), (tally.unchanged, "unchanged")]
            .filter { $0.0 > 0 }
        return parts.isEmpty ? "no records" : parts.map { "\(Plain.count($0)) \($1)" }.joined(separator: ", ")
    }

    /// Returns the problem with its line, the records that are stored already, and the way to continue.
    private func failure(_ problem: ImportFile.Problem, in input: ImportFile, _ work: RecordImport) -> CommandFailure {
        var failure = problem.failure
        let place = problem.line.map { "\(input.name):\($0): " } ?? ""
        var end = "nothing is stored"
        if work.tally.stored > 0, let line = work.lastLine {
            end = "stored are \(Plain.count(work.tally.stored, "record")), up to that of line \(line); "
            if work.hasMadeIDs {
                end += "not all have ids, so import what comes after that line"
            } else {
                end += "running it again\(upsert ? "" : " with --upsert") goes on from there"
            }
        }
        failure.message = "\(place)\(failure.message); \(end)"
        failure.table = failure.table ?? table
        return failure
    }
}

extension ImportFile.Format: ExpressibleByArgument {}

/// Imports the records of a file into a table, step by step: each step is one transaction.
struct RecordImport {
    /// The numbers of stored records, by kind.
    struct Tally: Sendable {
        var inserted = 0
        var updated = 0
        var unchanged = 0

        /// The number of records that the store now has as in the file.
        var stored: Int { inserted + updated + unchanged }
    }

    /// The largest size of a step in bytes, whatever its number of records.
    private static let mostBytes = 64 << 20

    let table: String
    let step: ImportStep
    /// Whether existing records are updated.
    let upserts: Bool
    /// Whether null means that a new record lacks the property.
    let leavesOutNulls: Bool
    private let context: SyncContext
    /// The properties that only the server sets: their values in a file are left out, as in every local change.
    private let system: Set<PropertyName>
    /// The property that marks a record as deleted.
    private let deletion: PropertyName

    private(set) var tally = Tally()
    /// The number of records read.
    private(set) var read = 0
    /// The properties in the file that only the server sets.
    private(set) var leftOut: Set<PropertyName> = []
    /// The number of records that the file marks as deleted, which are left out.
    private(set) var deleted = 0
    /// The line of the last stored record; nil before there is one.
    private(set) var lastLine: Int?
    /// Whether a record is stored under a generated id, so that a repeat would create another.
    private(set) var hasMadeIDs = false
    /// The first line of each id, by its hash. The store knows the existing ids; this only names the line.
    private var firstLines: [Int: Int] = [:]
    /// A record that was read and belongs to the next step.
    private var waiting: ImportFile.Record?

    init(_ session: ClientSession, table: String, step: ImportStep, upserts: Bool, leavesOutNulls: Bool) {
        (self.table, self.step, self.upserts, self.leavesOutNulls) = (table, step, upserts, leavesOutNulls)
        context = session.context
        // A local-only table has no properties set by the server: all values in the file are the application's own.
        system = context.localOnly.tables.contains(table) ? [] : session.settings.dialect.pushColumns.system
        deletion = session.settings.dialect.pushColumns.deleted
    }

    /// Writes all records of the file.
    ///
    /// - Parameter progress: called with the number of records read.
    /// - Throws: ``ImportFile/Problem``: the earlier steps are stored, and nothing of its own.
    mutating func run(_ file: inout ImportFile, _ progress: (Int) -> Void) async throws {
        let table = table
        let schema = try await context.store.read { try $0.tables().first { $0.name == table } }
        try file.begin(schema, beside: system)
        while true {
            let records = try nextStep(of: &file, progress)
            guard let last = records.last else { return }
            let written = try await write(records)
            tally.inserted += written.inserted
            tally.updated += written.updated
            tally.unchanged += written.unchanged
            lastLine = last.line
            hasMadeIDs = hasMadeIDs || records.contains { !$0.hasOwnID }
        }
    }

    private mutating func nextStep(of file: inout ImportFile, _ progress: (Int) -> Void) throws -> [ImportFile.Record] {
        let makeID = context.options.environment.makeID
        // A repeated record in one transaction makes hooks run again, and they run only a few times.
        let isOncePerStep = upserts && step != .all && !context.options.hooks.isEmpty
        var records: [ImportFile.Record] = []
        var ids: Set<RecordID> = []
        var bytes = 0
        while !isFull(records.count, bytes) {
            var next = waiting
            waiting = nil
            if next == nil {
                next = try file.next(makeID)
                read += next == nil ? 0 : 1
                progress(read)
            }
            guard let record = next else { break }
            leftOut.formUnion(record.content.names.filter { system.contains($0) && record.content[$0] != .null })
            if system.contains(deletion), let mark = record.content[deletion] {
                let column = CSVColumn(name: deletion, type: .boolean)
                if try ImportFile.at(record.line, { try column.isSet(mark) }) {
                    deleted += 1
                    continue
                }
            }
            if isOncePerStep, !ids.insert(record.id).inserted {
                waiting = record
                break
            }
            if !upserts, record.hasOwnID, firstLines[record.id.hashValue] == nil {
                firstLines[record.id.hashValue] = record.line
            }
            bytes += record.size
            records.append(record)
        }
        return records
    }

    private func isFull(_ count: Int, _ bytes: Int) -> Bool {
        guard case .records(let most) = step else { return false }
        return count >= most || bytes >= Self.mostBytes
    }

    private func write(_ records: [ImportFile.Record]) async throws -> Tally {
        let (table, upserts, leavesOutNulls, system) = (table, upserts, leavesOutNulls, system)
        do {
            return try await context.write { transaction in
                var tally = Tally()
                for record in records {
                    do {
                        let known = upserts ? try transaction.lookup(id: record.id, in: table) : nil
                        if let known {
                            let changes = Self.changes(record.content, to: known, system)
                            if changes.count > 1 { try transaction.update(changes, in: table) }
                            tally.updated += changes.count > 1 ? 1 : 0
                            tally.unchanged += changes.count > 1 ? 0 : 1
                        } else {
                            let content = leavesOutNulls ? Self.withoutNulls(record.content) : record.content
                            try transaction.insert(content, in: table)
                            tally.inserted += 1
                        }
                    } catch let error as SluiceError where error.recordID != nil || error.code == .invalidRecord {
                        throw problem(error, record)
                    }
                }
                return tally
            }
        } catch let error as SluiceError {
            // Hooks throw their refusal outside of the transaction.
            guard let id = error.recordID, let record = records.first(where: { $0.id == id }) else {
                throw ImportFile.Problem(line: nil, failure: CommandFailure(error))
            }
            throw problem(error, record)
        }
    }

    private func problem(_ error: SluiceError, _ record: ImportFile.Record) -> ImportFile.Problem {
        var failure = CommandFailure(error)
        if error.code == .recordExists, let first = firstLines[record.id.hashValue], first != record.line {
            failure.message = "the record is given twice, on lines \(first) and \(record.line)"
        }
        return ImportFile.Problem(line: record.line, failure: failure)
    }

    /// Returns the properties that differ in the file, and the id. Null and absent are equal here: servers differ in
    /// their use of the two.
    private static func changes(_ content: JSON, to known: JSON, _ system: Set<PropertyName>) -> JSON {
        var changes: JSON = ["id": known["id"] ?? .null]
        for (name, value) in content.members ?? [] where name != "id" && !system.contains(name) {
            if known[name] ?? .null != value { changes[name] = value }
        }
        return changes
    }

    private static func withoutNulls(_ content: JSON) -> JSON {
        JSON(members: (content.members ?? []).lazy.filter { !$0.value.isNull }.map { ($0.name, $0.value) })
    }
}

/// The number of records that an import writes in one transaction.
enum ImportStep: Hashable, ExpressibleByArgument {
    /// A number of records, at least one.
    case records(Int)
    case all

    init?(argument: String) {
        if argument == "all" || argument == "0" {
            self = .all
        } else if let count = Int(argument), count > 0 {
            self = .records(count)
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .records(let count): String(count)
        case .all: "all"
        }
    }
}
