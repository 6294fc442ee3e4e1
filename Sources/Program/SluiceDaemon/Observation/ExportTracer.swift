internal import Synchronization
internal import Tracing

/// A tracer whose spans go to a ``SpanQueue`` when they end. Every span is kept: sync has few of them.
struct ExportTracer: Tracer {
    let queue: SpanQueue

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> ExportSpan {
        var context = context()
        let parent = context[TraceContext.Key.self]
        let own = TraceContext(child: parent)
        context[TraceContext.Key.self] = own
        return ExportSpan(
            context, queue,
            EndedSpan(
                context: own, parent: parent?.span, name: operationName, kind: kind,
                begin: instant().nanosecondsSinceEpoch))
    }

    func forceFlush() {}

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier), let found = TraceContext(parent: text)
        else { return }
        context[TraceContext.Key.self] = found
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let own = context[TraceContext.Key.self] else { return }
        injector.inject(own.parent, forKey: "traceparent", into: &carrier)
    }
}

/// A span in progress.
final class ExportSpan: Span {
    let context: ServiceContext
    private let queue: SpanQueue
    private let state: Mutex<(span: EndedSpan, isEnded: Bool)>

    init(_ context: ServiceContext, _ queue: SpanQueue, _ span: EndedSpan) {
        (self.context, self.queue) = (context, queue)
        state = Mutex((span, false))
    }

    var operationName: String {
        get { state.withLock { $0.span.name } }
        set { state.withLock { $0.span.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.span.attributes } }
        set { state.withLock { $0.span.attributes = newValue } }
    }

    var isRecording: Bool { state.withLock { !$0.isEnded } }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.span.status = status } }
    func addEvent(_ event: SpanEvent) {
        state.withLock { state in
            if state.span.events.count < EndedSpan.mostEvents { state.span.events.append(event) }
        }
    }

    /// Records only the error's code, because its text may hold a record's content.
    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = ErrorCode.of(error)
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = instant().nanosecondsSinceEpoch
        let ended = state.withLock { state -> EndedSpan? in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            state.span.end = end
            return state.span
        }
        if let ended { queue.add(ended) }
    }
}
