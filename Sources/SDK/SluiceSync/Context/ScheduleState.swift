internal import SluiceBase

/// The state of a schedule that the next process needs: the number of failures, and the pause that the server asked
/// for.
struct ScheduleState: Sendable, Hashable {
    var failures = 0
    /// The date at which the pause ends.
    var notBefore: Timestamp?
    /// The length of the pause, so that a clock that was set back since makes none of it longer.
    var pause: Duration?

    /// The table of the store that keeps the state, one record for each server.
    static let schema = TableSchema(
        "sluice_schedule", columns: [.init("failures", .integer), .init("notBefore", .date), .init("pause", .integer)])

    init(failures: Int = 0, notBefore: Timestamp? = nil, pause: Duration? = nil) {
        self.failures = failures
        self.notBefore = notBefore
        self.pause = pause
    }

    init(record: JSON) {
        failures = record["failures"]?.int.map { Int(clamping: $0) } ?? 0
        notBefore = record["notBefore"]?.string.flatMap { Timestamp($0) }
        pause = record["pause"]?.int.map { .nanoseconds($0) }
    }

    func record(id: String) -> JSON {
        [
            "id": JSON(id), "failures": JSON(failures), "notBefore": notBefore.map { JSON($0.description) } ?? .null,
            "pause": pause.map { JSON($0.wholeNanoseconds) } ?? .null,
        ]
    }
}
