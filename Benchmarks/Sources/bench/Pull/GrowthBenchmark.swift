/// How pulls and pushes grow from a thousand rows to a million, beside the C programs: one run of each size, a line of JSON
/// for each, of which a plot is drawn.
struct GrowthBenchmark {
    private static let sizes = [1_000, 10_000, 100_000, 1_000_000]
    let directory: String

    func run() throws {
        for size in Self.sizes {
            let pages = "\(directory)/pages-\(size)"
            try File.makeDirectory(pages)
            _ = try PageFiles(directory: pages, rows: size)
            tell("pull", size, try fresh("sluice", pages), try fresh("floor", pages))
            File.removeDirectory(pages)
            tell("push", size, try filled("push", size), try filled("push-floor", size))
        }
    }

    /// Pulls into a new database.
    private func fresh(_ run: String, _ pages: String) throws -> Measurement {
        let database = "\(directory)/growth.db"
        File.removeDatabase(database)
        return try Child.measure([run, pages, database])
    }

    /// Pushes what so many inserts have left in a new database.
    private func filled(_ run: String, _ size: Int) throws -> Measurement {
        let database = "\(directory)/growth.db"
        File.removeDatabase(database)
        _ = try Child.measure(["inserts", "\(size)", database])
        return try Child.measure([run, "-", database])
    }

    private func tell(_ work: String, _ size: Int, _ sluice: Measurement, _ floor: Measurement) {
        func parts(_ name: String, _ run: Measurement) -> String {
            #""\#(name)":\#((Double(size) / run.cpu).fixed(0)),"\#(name)MB":\#((Double(run.peakKiB) / 1024).fixed(1))"#
        }
        say(#"{"work":"\#(work)","rows":\#(size),\#(parts("sluice", sluice)),\#(parts("c", floor))}"#)
    }
}
