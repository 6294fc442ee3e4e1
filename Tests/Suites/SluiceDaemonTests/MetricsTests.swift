import CoreMetrics
import Foundation
import Testing

@testable import SluiceDaemon

@Suite struct MetricsTests {
    @Test("counters, values and times are written as Prometheus reads them")
    func text() throws {
        let registry = MeterRegistry()
        Counter(label: "sluice.sync.runs", dimensions: [("result", "ok")], factory: registry).increment(by: 3)
        Gauge(label: "sluice.queue.operations", dimensions: [("state", "a\"b\\c")], factory: registry).record(2)
        let timer = Timer(label: "sluice.sync.run.duration", dimensions: [], factory: registry)
        timer.recordMilliseconds(20)
        timer.recordSeconds(2)
        let text = PrometheusText.of(registry)
        #expect(text.contains("# TYPE sluice_sync_runs_total counter\nsluice_sync_runs_total{result=\"ok\"} 3\n"))
        #expect(text.contains("sluice_queue_operations{state=\"a\\\"b\\\\c\"} 2\n"))
        #expect(text.contains("sluice_sync_run_duration_seconds_bucket{le=\"0.05\"} 1\n"))
        #expect(text.contains("sluice_sync_run_duration_seconds_bucket{le=\"+Inf\"} 2\n"))
        #expect(text.contains("sluice_sync_run_duration_seconds_sum 2.02\n"))
    }

    @Test(
        "promtool has nothing to say about it",
        .enabled(
            if: FileManager.default.fileExists(atPath: "/usr/bin/promtool")
                || ProcessInfo.processInfo.environment["CI"] == "true",
            "promtool is not here (package prometheus)"))
    func promtool() throws {
        let registry = MeterRegistry()
        for label in PrometheusText.help.keys where !label.hasSuffix("duration") && !label.hasSuffix("cpu") {
            if label.hasPrefix("sluice.queue") || label.hasSuffix("refused") {
                Gauge(label: label, dimensions: [], factory: registry).record(1)
            } else {
                Counter(label: label, dimensions: [], factory: registry).increment()
            }
        }
        Timer(label: "sluice.sync.run.duration", dimensions: [], factory: registry).recordSeconds(1)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
        process.arguments = ["check", "metrics"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, output)
        try process.run()
        input.fileHandleForWriting.write(Data(PrometheusText.of(registry).utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationStatus == 0 && said.isEmpty, "\(said)")
    }
}
