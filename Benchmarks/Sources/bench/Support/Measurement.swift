internal import Glibc

/// What a piece of work cost the process that did it.
struct Measurement {
    /// Seconds of processor time, all threads together.
    var cpu: Double
    /// Seconds that passed.
    var wall: Double
    /// The most memory that the process ever held, in KiB (Linux's `VmHWM`).
    var peakKiB: Int

    /// Runs `body` and measures it.
    static func of(_ body: () async throws -> Void) async rethrows -> Measurement {
        let (cpu, wall) = (seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC))
        try await body()
        return Measurement(
            cpu: seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, wall: seconds(CLOCK_MONOTONIC) - wall, peakKiB: peak())
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func peak() -> Int {
        let text = File.ofKernel("/proc/self/status")
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The line by which a child tells its parent.
    var line: String { "\(cpu) \(wall) \(peakKiB)" }

    init(cpu: Double, wall: Double, peakKiB: Int) {
        self.cpu = cpu
        self.wall = wall
        self.peakKiB = peakKiB
    }

    init?(line: Substring) {
        let parts = line.split(separator: " ")
        guard parts.count == 3, let cpu = Double(parts[0]), let wall = Double(parts[1]), let peak = Int(parts[2]) else {
            return nil
        }
        self.init(cpu: cpu, wall: wall, peakKiB: peak)
    }
}
