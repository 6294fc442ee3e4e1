internal import Foundation

/// The program `sqlite3`, with which the demo reads the stores without Sluice.
struct SQLiteProgram {
    private let path: String

    /// Finds the program.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/sqlite3") })
        else {
            throw CommandFailure.usage(
                "the demo compares the stores with the sqlite3 program, which is not installed: "
                    + "apt-get install sqlite3")
        }
        path = "\(folder)/sqlite3"
    }

    /// Returns the rows of a `SELECT` on a file, which is opened for reading only.
    func rows(_ sql: String, in file: String) throws -> [[String: Any]] {
        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-readonly", "-json", file, sql]
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure(
                .store, "sqlite3", "sqlite3 cannot read \(file): \(String(decoding: complaint, as: UTF8.self))")
        }
        if data.isEmpty { return [] }
        return try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
    }
}
