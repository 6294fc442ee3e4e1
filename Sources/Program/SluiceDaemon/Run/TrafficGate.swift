internal import Foundation
internal import Sluice
internal import Synchronization

/// Spares a line that costs. While it is metered, scheduled runs send changes and pull seldom; once the bytes of a day are
/// spent, scheduled runs wait for the next day. A run that somebody requests begins always.
///
/// Bodies are counted unpacked, and header fields are not: the true number of bytes is smaller for long bodies, and a
/// few hundred larger for each exchange.
final class TrafficGate: ScheduleHook, RequestTransform {
    /// The time between two saves of the counts.
    private static let saving = Duration.seconds(5)

    let hookName = "sluice.traffic"
    private let metered: Bool
    private let meteredFile: String?
    private let interval: Duration
    private let budget: Int?
    private let path: String
    private let counts: Mutex<Counts>

    private struct Counts {
        /// The day's number, in local time.
        var day = 0
        var bytes = 0
        /// The time of the last run that pulled.
        var pulled: Timestamp?
        var saved = ContinuousClock.now
    }

    /// Creates the gate of an endpoint, with the counts of an earlier process; nil if nothing is to be spared.
    init?(_ values: SettingValues, store: String) throws {
        metered = values.flag("traffic.metered")
        meteredFile = try values.path("traffic.metered-file")
        interval = values.duration("traffic.metered-interval")
        budget = values.number("traffic.daily-bytes")
        guard metered || meteredFile != nil || budget != nil else { return nil }
        path = "\(store).traffic"
        var counts = Counts()
        if let bytes = try? OpenFile(path, .filesOnly).read(upTo: 4_096), let json = try? JSON(parsing: bytes) {
            counts.day = json["day"]?.int.flatMap { Int(exactly: $0) } ?? 0
            counts.bytes = max(0, json["bytes"]?.int.flatMap { Int(exactly: $0) } ?? 0)
            counts.pulled = json["pulled"]?.string.flatMap { Timestamp($0) }
        }
        self.counts = Mutex(counts)
    }

    /// Whether the line is metered now: by the setting, or because the file is there and does not say `0`.
    var isMetered: Bool {
        if metered { return true }
        guard let meteredFile, let file = try? OpenFile(meteredFile, .filesOnly) else { return false }
        let text = String(decoding: (try? file.read(upTo: 16)) ?? [], as: UTF8.self)
        return text.trimmingCharacters(in: .whitespacesAndNewlines) != "0"
    }

    /// The day's count and its limit, for the status.
    var status: JSON {
        let bytes = counts.withLock { $0.day == Self.day(of: SyncEnvironment.system.now()) ? $0.bytes : 0 }
        return [
            "metered": JSON(isMetered), "bytesToday": JSON(bytes), "dailyBytes": budget.map { JSON($0) } ?? .null,
        ]
    }

    // MARK: Counting

    func request(_ request: SyncRequest) throws -> SyncRequest {
        count(request.body.bytes.count)
        return request
    }

    func response(_ response: SyncResponse, to request: SyncRequest) throws -> SyncResponse {
        count(response.body.bytes.count)
        return response
    }

    private func count(_ bytes: Int) {
        let day = Self.day(of: SyncEnvironment.system.now())
        let isDue = counts.withLock { counts in
            if counts.day != day { (counts.day, counts.bytes) = (day, 0) }
            counts.bytes += bytes
            guard counts.saved.duration(to: .now) >= Self.saving else { return false }
            counts.saved = .now
            return true
        }
        if isDue { save() }
    }

    /// Saves the counts. A kill, or a disk that is full, loses some seconds' of them.
    func save() {
        let counts = counts.withLock { $0 }
        let json: JSON = [
            "day": JSON(counts.day), "bytes": JSON(counts.bytes),
            "pulled": counts.pulled.map { JSON($0.description) } ?? .null,
        ]
        try? FileDraft.replace(path, with: json.bytes())
    }

    // MARK: Scheduling

    /// Notes a run that has ended.
    func ended(_ run: SyncScheduler.Run) {
        if run.pulls.isEmpty { return }
        counts.withLock { $0.pulled = run.startedAt }
        save()
    }

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        if question.reason == .request { return nil }
        let now = question.now
        if let budget, counts.withLock({ $0.day == Self.day(of: now) && $0.bytes >= budget }) {
            return .wait(until: Self.nextDay(after: now))
        }
        guard question.pulls, question.next <= now, isMetered else { return nil }
        let pulled = counts.withLock { $0.pulled }
        guard let pulled, pulled <= now, pulled.advanced(by: interval) > now else { return nil }
        let due = pulled.advanced(by: interval)
        return question.pending > 0 ? .push : .wait(until: due)
    }

    private static func localSeconds(of time: Timestamp) -> Int64 {
        let date = Date(timeIntervalSince1970: Double(time.ticks) / Double(Timestamp.ticksPerSecond))
        return time.ticks / Timestamp.ticksPerSecond + Int64(TimeZone.current.secondsFromGMT(for: date))
    }

    private static func day(of time: Timestamp) -> Int { Int(localSeconds(of: time) / 86_400) }

    private static func nextDay(after time: Timestamp) -> Timestamp {
        let second = (localSeconds(of: time) % 86_400 + 86_400) % 86_400
        return time.advanced(by: .seconds(86_400 - second))
    }
}
