internal import Foundation
internal import Sluice

/// The demo's data: 248 real movies, and any number of made-up ones, the same in every run.
struct DemoMovies {
    static let realCount = 248
    static let table = "movies"

    /// The table's declaration on the devices, so that other programs find each property in a column of its own.
    static let schema = TableSchema(
        table,
        columns: [
            .init("title", .string), .init("year", .integer), .init("duration", .integer), .init("rating", .string),
            .init("ratingV6", .string), .init("releaseDate", .string), .init("bestPictureWinner", .boolean),
            .init("version", .string), .init("createdAt", .date), .init("updatedAt", .date), .init("deleted", .boolean),
        ])

    /// Reads the real movies, from the file beside the program.
    static func real() throws -> [JSON] {
        let name = "sluice_SluiceCLI.resources/movies.json"
        let executable = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let places = [executable, Bundle.main.bundleURL].compactMap { $0?.appendingPathComponent(name).path }
        guard let data = places.lazy.compactMap({ FileManager.default.contents(atPath: $0) }).first else {
            throw CommandFailure.usage("the demo's data, \(name), is not beside the program; run it where it was built")
        }
        return try JSON(parsing: data)["movies"]?.elements ?? []
    }

    /// Writes a seed file of `count` movies.
    static func write(_ count: Int, to path: String) throws {
        let real = try real()
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw CommandFailure(.store, "storeInputOutput", "\(path) cannot be written") }
        defer { try? file.close() }
        var buffer: [UInt8] = Array("[".utf8)
        for index in 0..<count {
            if index > 0 { buffer += Array(",\n".utf8) }
            buffer += (index < real.count ? real[index] : madeUp(index)).bytes()
            if buffer.count > 1 << 20 {
                try file.write(contentsOf: Data(buffer))
                buffer.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: Data(buffer + Array("]\n".utf8)))
    }

    /// Returns the made-up movie of that number.
    static func madeUp(_ index: Int) -> JSON {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let year = 1920 + index * 7 % 106
        let rating = ["G", "PG", "PG13", "R"][index % 4]
        return [
            "id": JSON("made-up-\(padded(index, 7))"), "title": JSON("The Return of Number \(index)"),
            "year": JSON(year), "duration": JSON(60 + index * 13 % 200), "rating": JSON(rating),
            "releaseDate": JSON("\(year)-\(padded(1 + index % 12, 2))-\(padded(1 + index % 28, 2))"),
            "bestPictureWinner": JSON(index.isMultiple(of: 97)), "ratingV6": JSON(rating),
        ]
    }
}
