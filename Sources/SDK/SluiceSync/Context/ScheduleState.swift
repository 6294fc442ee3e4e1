internal import SluiceBase

/// The state of a schedule that the next process needs: the number of failures, and the pause that the server asked
/// for.
struct ScheduleState: Sendable, Hashable {
    var failures = 0
    var notBefore: Timestamp?

    /// The table of the store that keeps the state, one record for each server.
    static let schema = TableSchema(
        "sluice_schedule", columns: [.init("failures", .integer), .init("notBefore", .date)])

    init(failures: Int = 0, notBefore: Timestamp? = nil) {
        self.failures = failures
        self.notBefore = notBefore
    }

    init(record: JSON) {
        failures = record["failures"]?.int.map { Int(clamping: $0) } ?? 0
        notBefore = record["notBefore"]?.string.flatMap { Timestamp($0) }
    }

    func record(id: String) -> JSON {
        ["id": JSON(id), "failures": JSON(failures), "notBefore": notBefore.map { JSON($0.description) } ?? .null]
    }
}
