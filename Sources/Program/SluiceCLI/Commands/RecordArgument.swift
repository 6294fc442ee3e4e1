internal import Foundation
internal import Sluice

/// A record given on the command line, or on standard input if the argument is `-`.
enum RecordArgument {
    static func read(_ argument: String, table: String) throws -> JSON {
        guard let bytes = argument == "-" ? StandardInput.read() : Array(argument.utf8) else {
            throw CommandFailure.usage("standard input cannot be read", table: table)
        }
        let record: JSON
        do {
            record = try JSON(parsing: bytes)
        } catch {
            throw CommandFailure(.usage, "invalidJSON", "the record is \(error)", table: table)
        }
        guard record.kind == .object else {
            throw CommandFailure(.usage, "invalidRecord", "the record must be a JSON object", table: table)
        }
        return record
    }

    /// Returns lines about properties that are not stored, because only the server sets them.
    static func notes(_ record: JSON, stored: JSON, _ dialect: Dialect) -> [String] {
        let system = dialect.pushColumns.system
        return notes(leftOut: Set(record.names.filter { system.contains($0) && (stored[$0] ?? .null) != record[$0] }))
    }

    static func notes(leftOut names: Set<PropertyName>) -> [String] {
        names.isEmpty
            ? []
            : [
                "left out, as only the server sets it: \(Plain.line(names.sorted().map(\.text).joined(separator: ", ")))"
            ]
    }

    /// Refuses a record with a value that does not fit its column's declared type, as an import does.
    static func check(_ record: JSON, in table: String, _ context: SyncContext) async throws {
        let schema = try await context.store.read { try $0.tables().first { $0.name == table } }
        do {
            try CSVColumn.check(record, of: schema)
        } catch var failure as CommandFailure {
            (failure.table, failure.recordID) = (table, record["id"]?.string.map { RecordID($0) })
            throw failure
        }
    }
}

/// The argument of a command that reads a file: `-` is standard input.
enum InputArgument {
    /// Returns the content.
    ///
    /// - Throws: a usage failure for a file that cannot be read.
    static func read(_ file: String) throws -> [UInt8] {
        let bytes = file == "-" ? StandardInput.read() : FileManager.default.contents(atPath: file).map { Array($0) }
        guard let bytes else { throw CommandFailure.usage("\(name(of: file)) cannot be read") }
        return bytes
    }

    /// Returns the argument's name in messages.
    static func name(of file: String) -> String { file == "-" ? "standard input" : Plain.line(file) }
}
