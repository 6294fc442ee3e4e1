internal import Foundation
internal import SluiceCore

/// A table's first records.
enum SeedFile {
    /// Reads them.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and the place.
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
