internal import Foundation
internal import Sluice

/// A record given on the command line, or on standard input where the argument is `-`.
enum RecordArgument {
    static func read(_ argument: String, table: String) throws -> JSON {
        let bytes = argument == "-" ? Array(FileHandle.standardInput.readDataToEndOfFile()) : Array(argument.utf8)
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
}
