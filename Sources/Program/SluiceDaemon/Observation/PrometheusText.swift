internal import Foundation

/// Metrics in Prometheus's text format 0.0.4. Names follow its conventions: underscores, base units, `_total` for
/// counters, `_seconds` for times.
package enum PrometheusText {
    /// The descriptions of the metrics, for their `# HELP` lines.
    static let help: [String: String] = [
        "sluice.sync.runs": "Runs of the schedule that ended, by result.",
        "sluice.sync.run.duration": "How long runs took, by result.",
        "sluice.sync.operations": "Operations that pushes have settled, by outcome.",
        "sluice.sync.rows": "Rows that pulls have brought, by what became of them.",
        "sluice.backend.requests": "Requests that were answered, by method and status.",
        "sluice.backend.request.duration": "How long answers took, by method.",
        "sluice.backend.streams": "Streams of changes that are open.",
        "sluice.queue.operations": "Operations in the queue, by state.",
        "sluice.daemon.reloads": "Loads of a changed configuration, by result.",
        "sluice.daemon.configuration.refused":
            "1 while the newest configuration is refused and the one before it serves.",
        "sluice.daemon.spans.dropped": "Spans that were not exported.",
        "sluice.plugin.calls": "Calls of plugins that ended.",
        "sluice.plugin.duration": "How long calls of plugins took, waits included.",
        "sluice.plugin.decisions": "What plugins have decided.",
        "sluice.plugin.fuel": "Fuel that plugins have used.",
        "sluice.plugin.cpu": "Time of the plugins' thread.",
    ]

    /// The metrics of a registry.
    package static func of(_ registry: MeterRegistry) -> String {
        var families: [String: [(MeterRegistry.Key, MeterRegistry.Value)]] = [:]
        for (key, value) in registry.all { families[key.label, default: []].append((key, value)) }
        var lines: [String] = []
        for (label, members) in families.sorted(by: { $0.key < $1.key }) {
            guard let first = members.first else { continue }
            let (name, kind) = name(label, first.1)
            lines.append("# HELP \(name) \(help[label] ?? label)")
            lines.append("# TYPE \(name) \(kind)")
            let sorted = members.map { (labels($0.0.dimensions), $0.1) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
            for (labels, value) in sorted { lines += samples(name, labels, value) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func name(_ label: String, _ value: MeterRegistry.Value) -> (String, String) {
        let plain = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return switch value {
        case .counter: (plain + "_total", "counter")
        case .gauge: (plain, "gauge")
        case .times: (plain + "_seconds", "histogram")
        }
    }

    private static func labels(_ dimensions: [String: String]) -> [String] {
        dimensions.sorted { $0.key < $1.key }.map { name, value in
            let text = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }))=\"\(text)\""
        }
    }

    private static func samples(_ name: String, _ labels: [String], _ value: MeterRegistry.Value) -> [String] {
        func line(_ name: String, _ labels: [String], _ number: String) -> String {
            "\(name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") \(number)"
        }
        switch value {
        case .counter(let number), .gauge(let number): return [line(name, labels, text(number))]
        case .times(let sum, let count, let buckets):
            let bounds = zip(MeterRegistry.bounds.map(text), buckets).map { bound, count in
                line(name + "_bucket", labels + ["le=\"\(bound)\""], "\(count)")
            }
            return bounds + [
                line(name + "_bucket", labels + ["le=\"+Inf\""], "\(count)"), line(name + "_sum", labels, text(sum)),
                line(name + "_count", labels, "\(count)"),
            ]
        }
    }

    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}
