/// What encryption costs: a pull into an encrypted store, and reads of single records from it, beside the same with a
/// plain one. They take turns.
struct EncryptionBenchmark {
    let rows: Int
    let pairs: Int
    let directory: String
    /// How many records are read.
    private let reads = 50_000

    func run() throws {
        let pages = "\(directory)/encryption-pages"
        try File.makeDirectory(pages)
        let files = try PageFiles(directory: pages, rows: rows)
        say("encryption: \(rows) rows of \(files.bytesPerRow) bytes are pulled, \(reads) of them read one by one")
        let databases = (
            plain: "\(directory)/plain.db", encrypted: "\(directory)/encrypted.db",
            floor: "\(directory)/cipher-floor.db"
        )
        var runs: [String: [Measurement]] = [:]
        for pair in 1...pairs {
            File.removeDatabase(databases.plain)
            File.removeDatabase(databases.encrypted)
            let sides = [("sluice", "reads", databases.plain), ("encrypted", "encrypted-reads", databases.encrypted)]
            // Which goes first changes, for the second finds the disk's cache as the first has left it.
            for (pull, _, database) in pair.isMultiple(of: 2) ? sides.reversed() : sides {
                runs[pull, default: []].append(try Child.measure([pull, pages, database]))
            }
            File.removeDatabase(databases.floor)
            runs["floor", default: []].append(try floor(pages, databases.floor))
            for (_, read, database) in pair.isMultiple(of: 2) ? sides.reversed() : sides {
                runs[read, default: []].append(try Child.measure([read, "\(reads)", database]))
            }
        }
        say("median of \(pairs) runs each".left(40) + "encrypted".right(12) + "beside".right(12) + "ratio".right(10))
        let figures = [
            figure("encrypted-pull", runs["encrypted"], runs["sluice"], count: rows, \.cpu),
            figure("encrypted-pull-wall", runs["encrypted"], runs["sluice"], count: rows, \.wall),
            figure("encrypted-pull-floor", runs["encrypted"], runs["floor"], count: rows, \.cpu),
            figure("encrypted-reads", runs["encrypted-reads"], runs["reads"], count: reads, \.cpu),
            figure("encrypted-reads-wall", runs["encrypted-reads"], runs["reads"], count: reads, \.wall),
        ]
        Figure.tell(figures, in: "nanoseconds a row")
    }

    /// The same pull in plain C on SQLCipher, by the program beside this one.
    private func floor(_ pages: String, _ database: String) throws -> Measurement {
        let text = try Program("\(File.here)/cipher-floor", [pages, database]).finish()
        guard let line = text?.split(separator: "\n").last, let result = Measurement(line: line) else {
            throw BenchFailure("cipher-floor failed; its message is above")
        }
        return result
    }

    private func figure(
        _ name: String, _ encrypted: [Measurement]?, _ plain: [Measurement]?, count: Int,
        _ seconds: (Measurement) -> Double
    ) -> Figure {
        func median(_ runs: [Measurement]?) -> Double { (runs ?? []).map(seconds).median / Double(count) * 1e9 }
        return Figure(bench: name, unit: "ns/row", value: median(encrypted), floor: median(plain))
    }
}
