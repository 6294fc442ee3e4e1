internal import Foundation
internal import Sluice
internal import Synchronization

/// Holds a schedule while an operator has paused it, and outside of the daily windows.
final class ScheduleGate: ScheduleHook {
    let hookName = "sluice.daemon"
    private let windows: [DayWindow]
    private let paused = Mutex(false)

    init(windows: [DayWindow]) { self.windows = windows }

    var isPaused: Bool {
        get { paused.withLock { $0 } }
        set { paused.withLock { $0 = newValue } }
    }

    func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
        if isPaused { return .wait(until: question.now.advanced(by: .seconds(365 * 86_400))) }
        // A requested run starts also outside of a window.
        if question.reason == .request { return nil }
        return DayWindow.opening(of: windows, after: question.now).map { .wait(until: $0) }
    }
}

/// A window of the day, in local time: `22:00-06:00`.
struct DayWindow: Sendable, Hashable {
    /// Minutes of the day; a window that ends before it begins goes past midnight.
    let begin: Int
    let end: Int

    /// Reads `HH:MM-HH:MM`.
    init?(_ text: String) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map { time -> Int? in
            let parts = time.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isNumber) }),
                let hour = Int(parts[0]), let minute = Int(parts[1]), hour <= 24, minute < 60,
                hour * 60 + minute <= 1440
            else { return nil }
            return hour * 60 + minute
        }
        guard times.count == 2, let begin = times[0], let end = times[1], begin != end else { return nil }
        (self.begin, self.end) = (begin, end)
    }

    /// The windows that the configuration gives.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an invalid window, with its place.
    static func list(_ values: SettingValues) throws -> [DayWindow] {
        try (values.list("schedule.windows") ?? []).map { text in
            guard let window = DayWindow(text) else {
                throw SluiceError(
                    .invalidArgument,
                    "\(values.origin("schedule.windows")): schedule.windows cannot be \(text); use HH:MM-HH:MM")
            }
            return window
        }
    }

    func contains(_ minute: Int) -> Bool {
        begin < end ? (begin..<end).contains(minute) : minute >= begin || minute < end
    }

    /// The opening time of the next window; nil while one is open, or if there are none.
    static func opening(of windows: [DayWindow], after now: Timestamp, in zone: TimeZone = .current) -> Timestamp? {
        guard !windows.isEmpty else { return nil }
        let time = now
        let seconds = time.ticks / Timestamp.ticksPerSecond
        let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.ticks) / 1e7))
        let minute = Int(((seconds + Int64(offset)) % 86_400 + 86_400) % 86_400) / 60
        if windows.contains(where: { $0.contains(minute) }) { return nil }
        let wait = windows.map { ($0.begin - minute + 1440) % 1440 }.min() ?? 0
        let second = ((seconds + Int64(offset)) % 60 + 60) % 60
        return now.advanced(by: .seconds(Int64(wait) * 60 - second))
    }
}
