internal import Sluice

/// Compares the copies field by field, and counts what it compared.
struct DemoComparison {
    /// A field that is not the same everywhere.
    struct Difference {
        var recordID: String
        var field: String
        /// The values, copy by copy.
        var values: [String?]
    }

    private(set) var rows = 0
    private(set) var fields = 0
    private(set) var copies = 0
    /// The first differences; more than these are not looked for.
    private(set) var differences: [Difference] = []

    var isEqual: Bool { differences.isEmpty && rows > 0 }

    /// Reads all copies side by side, a page of each at a time.
    init(_ sources: [DemoRows], expected: Int, bar: ProgressBar) async throws {
        copies = sources.count
        let size = 5000
        while true {
            var pages: [[[String: String]]] = []
            for source in sources { pages.append(try await source.page(from: rows, count: size)) }
            let length = pages.map(\.count).max() ?? 0
            for index in 0..<length {
                compare(pages.map { index < $0.count ? $0[index] : [:] })
                if differences.count >= 10 { return }
            }
            rows += length
            bar.update(rows)
            if length < size { break }
        }
        if rows != expected {
            differences.append(
                Difference(recordID: "", field: "number of rows", values: ["\(rows)", "expected \(expected)"]))
        }
    }

    private mutating func compare(_ records: [[String: String]]) {
        let id = records.compactMap { $0["id"] }.first ?? ""
        for name in Set(records.flatMap(\.keys)).sorted() {
            let values = records.map { $0[name] }
            fields += 1
            if values.contains(where: { $0 != values[0] }) {
                differences.append(Difference(recordID: id, field: name, values: values))
            }
        }
    }
}
