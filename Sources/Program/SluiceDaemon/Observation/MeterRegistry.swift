package import CoreMetrics
internal import Foundation
internal import Synchronization

/// The daemon's metrics system: keeps counters, gauges and times in memory until they are read as text.
package final class MeterRegistry: MetricsFactory {
    /// A metric with its labels, in the order of their names.
    struct Key: Hashable, Sendable {
        var label: String
        var dimensions: [String: String]
    }

    /// The current value of a metric.
    enum Value: Sendable {
        case counter(Double)
        case gauge(Double)
        /// Times in seconds: their sum, their count, and the cumulative counts below each of ``MeterRegistry/bounds``.
        case times(sum: Double, count: Int, buckets: [Int])
    }

    /// The upper bounds of the buckets of times, in seconds.
    static let bounds: [Double] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]
    /// The most metrics. Labels come from small sets, but a mistake in them must not fill the memory.
    private static let most = 10_000

    private let values = Mutex<[Key: Value]>([:])

    package init() {}

    /// All metrics, unordered.
    var all: [Key: Value] { values.withLock { $0 } }

    func set(_ label: String, _ value: Double, _ dimensions: [String: String] = [:]) {
        update(Key(label: label, dimensions: dimensions)) { $0 = .gauge(value) }
    }

    fileprivate func update(_ key: Key, _ change: (inout Value?) -> Void) {
        values.withLock { values in
            guard values[key] != nil || values.count < Self.most else { return }
            change(&values[key])
        }
    }

    fileprivate func record(seconds: Double, _ key: Key) {
        update(key) { value in
            var (sum, count, buckets) = (0.0, 0, [Int](repeating: 0, count: Self.bounds.count))
            if case .times(let before, let number, let kept) = value { (sum, count, buckets) = (before, number, kept) }
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { buckets[index] += 1 }
            value = .times(sum: sum + seconds, count: count + 1, buckets: buckets)
        }
    }

    private func key(_ label: String, _ dimensions: [(String, String)]) -> Key {
        Key(label: label, dimensions: Dictionary(dimensions, uniquingKeysWith: { $1 }))
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        CountMeter(self, key(label, dimensions))
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        CountMeter(self, key(label, dimensions))
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        ValueMeter(self, key(label, dimensions))
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        ValueMeter(self, key(label, dimensions), isDistribution: aggregate)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        ValueMeter(self, key(label, dimensions))
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}

/// A counter.
private final class CountMeter: CounterHandler, FloatingPointCounterHandler {
    private let registry: MeterRegistry
    private let key: MeterRegistry.Key

    init(_ registry: MeterRegistry, _ key: MeterRegistry.Key) { (self.registry, self.key) = (registry, key) }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) {
        registry.update(key) { value in
            var sum = 0.0
            if case .counter(let before) = value { sum = before }
            value = .counter(sum + amount)
        }
    }
    func reset() { registry.update(key) { $0 = .counter(0) } }
}

/// A value that goes up and down, or a distribution.
private final class ValueMeter: MeterHandler, RecorderHandler, TimerHandler {
    private let registry: MeterRegistry
    private let key: MeterRegistry.Key
    private let isDistribution: Bool

    init(_ registry: MeterRegistry, _ key: MeterRegistry.Key, isDistribution: Bool = false) {
        (self.registry, self.key, self.isDistribution) = (registry, key, isDistribution)
    }

    private func change(_ amount: Double) {
        registry.update(key) { value in
            var now = 0.0
            if case .gauge(let before) = value { now = before }
            value = .gauge(now + amount)
        }
    }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { registry.update(key) { $0 = .gauge(value) } }
    func increment(by amount: Double) { change(amount) }
    func decrement(by amount: Double) { change(-amount) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
        if isDistribution { registry.record(seconds: value, key) } else { set(value) }
    }
    func recordNanoseconds(_ duration: Int64) { registry.record(seconds: Double(duration) / 1e9, key) }
}
