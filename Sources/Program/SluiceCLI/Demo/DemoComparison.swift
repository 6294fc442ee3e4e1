internal import Sluice

/// Compares the copies field by field, and counts the compared fields.
struct DemoComparison: Encodable {
    /// A field that differs between copies.
    struct Difference: Encodable {
        var recordID: RecordID
        var field: String
        /// The values, copy by copy.
        var values: [String?]

        private enum CodingKeys: String, CodingKey { case recordID = "record", field, values }
    }

    /// The number of compared records.
    private(set) var rows = 0
    /// The number of records left out, because plugins decided that they differ.
    private(set) var apart = 0
    private(set) var fields = 0
    private(set) var copies = 0
    /// The first differences; the search stops after these.
    private(set) var differences: [Difference] = []

    private enum CodingKeys: CodingKey { case copies, rows, apart, fields, differences }

    var isEqual: Bool { differences.isEmpty && rows + apart > 0 }

    /// Reads all copies side by side, in the order of the ids.
    ///
    /// - Parameters:
    ///   - expected: the necessary number of records.
    ///   - apart: the ids of records that are not compared.
    init(_ sources: [DemoRows], expected: Int, apart: Set<RecordID> = [], bar: ProgressBar) async throws {
        copies = sources.count
        var readers = sources.map { DemoReader(source: $0) }
        while true {
            var heads: [[String: String]?] = []
            for index in readers.indices { heads.append(try await readers[index].head()) }
            let ids = heads.compactMap { $0.map(Self.id(of:)) }
            guard let id = ids.min() else { break }
            let records = heads.map { head in head.flatMap { Self.id(of: $0) == id ? $0 : nil } }
            for index in readers.indices where records[index] != nil { readers[index].advance() }
            if apart.contains(id) {
                self.apart += 1
                continue
            }
            compare(records, id)
            if differences.count >= 10 { return }
            rows += 1
            bar.update(rows)
        }
        if rows + self.apart != expected {
            differences.append(
                Difference(
                    recordID: "", field: "number of rows", values: ["\(rows + self.apart)", "expected \(expected)"]))
        }
    }

    private static func id(of record: [String: String]) -> RecordID { RecordID(record["id"] ?? "") }

    private mutating func compare(_ records: [[String: String]?], _ id: RecordID) {
        // A record that is missing in a copy is one difference, whatever its fields.
        guard records.allSatisfy({ $0 != nil }) else {
            differences.append(Difference(recordID: id, field: "id", values: records.map { $0?["id"] }))
            return
        }
        for name in Set(records.flatMap { $0?.keys.map { $0 } ?? [] }).sorted() {
            let values = records.map { $0?[name] }
            fields += 1
            if values.contains(where: { $0 != values[0] }) {
                differences.append(Difference(recordID: id, field: name, values: values))
            }
        }
    }
}

/// Reads the records of one copy, one after the other.
private struct DemoReader {
    private static let pageSize = 5000

    let source: DemoRows
    private var page: ArraySlice<[String: String]> = []
    private var count = 0
    private var isAtEnd = false

    init(source: DemoRows) { self.source = source }

    /// Returns the next record; nil after the last one.
    mutating func head() async throws -> [String: String]? {
        if page.isEmpty, !isAtEnd {
            page = try await source.page(from: count, count: Self.pageSize)[...]
            count += page.count
            isAtEnd = page.count < Self.pageSize
        }
        return page.first
    }

    mutating func advance() { page.removeFirst() }
}
