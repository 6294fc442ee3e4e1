import SluiceCore
import Testing
import Tracing

@testable import SluiceDaemon

@Suite struct TraceTests {
    private struct Fields: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    @Test("the trace goes on in the field traceparent, and another's is taken up")
    func propagates() throws {
        let tracer = ExportTracer(queue: SpanQueue(metrics: MeterRegistry()))
        var carrier: [String: String] = [:]
        tracer.withSpan("outer") { outer in
            tracer.withSpan("inner") { inner in tracer.inject(inner.context, into: &carrier, using: Fields()) }
        }
        let spans = tracer.queue.take(10)
        #expect(spans.map(\.name) == ["inner", "outer"])
        #expect(spans[0].parent == spans[1].context.span && spans[0].context.trace == spans[1].context.trace)
        #expect(carrier["traceparent"] == "00-\(spans[0].context.trace)-\(spans[0].context.span)-01")
        var context = ServiceContext.topLevel
        tracer.extract(carrier, into: &context, using: Fields())
        let next = tracer.startSpan("next", context: context)
        next.end()
        #expect(tracer.queue.take(10).map(\.parent) == [spans[0].context.span])
    }

    @Test(
        "what is no traceparent is none",
        arguments: [
            "", "00", "00-0-0-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ])
    func noTraceparent(text: String) {
        #expect(TraceContext(parent: text) == nil)
    }

    @Test("an error is its code alone, a span ends once, and what waits has a limit")
    func bounds() {
        let registry = MeterRegistry()
        let queue = SpanQueue(metrics: registry)
        let tracer = ExportTracer(queue: queue)
        let span = tracer.startSpan("one")
        span.recordError(SluiceError(.conflict, "canary"))
        span.end()
        span.end()
        let spans = queue.take(10)
        #expect(spans.count == 1)
        #expect(!spans[0].json.description.contains("canary") && spans[0].json.description.contains("conflict"))
        for _ in 0..<5000 { tracer.startSpan("many").end() }
        #expect(queue.take(10_000).count == 4096)
        #expect(PrometheusText.of(registry).contains("sluice_daemon_spans_dropped_total 904"))
    }
}
