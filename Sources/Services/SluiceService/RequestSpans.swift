internal import HTTPTypes
public import SluiceCore
public import Tracing

/// Spans for sync: each push and pull, each operation in it, and each HTTP request. The trace goes on at the server
/// (W3C Trace Context, as far as the tracer injects it).
///
/// ```swift
/// let filters = RequestSpans.filters(tracer, around: [Tenant(name: "north")])
/// let client = SluiceClient(endpoint: endpoint, transport: transport, filters: filters)
/// ```
///
/// Spans name table, record and operation, and the answer's status; nothing of a record's content.
public enum RequestSpans {
    /// Returns a client's filters with two more: the outermost has a span for an operation with all of its attempts,
    /// the innermost one for each request that is sent.
    public static func filters(_ tracer: any Tracer, around filters: [any RequestFilter] = []) -> [any RequestFilter] {
        [SpanFilter(tracer: tracer, isRequest: false)] + filters + [SpanFilter(tracer: tracer, isRequest: true)]
    }

    /// Returns the tracing around the pushes and pulls of a scheduler.
    static func around(_ tracer: some Tracer) -> SyncScheduler.Around {
        { name, step in
            await tracer.withSpan("sluice \(name.split(separator: " ").first ?? "run")", ofKind: .internal) { span in
                if let table = name.split(separator: " ", maxSplits: 1).dropFirst().first {
                    span.attributes["sluice.table"] = "\(table)"
                }
                await step()
            }
        }
    }
}

/// A span for each request, around the rest of the chain.
private struct SpanFilter: PageFilter {
    let tracer: any Tracer
    let isRequest: Bool

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        var page = page
        let spans = page.requests.indices.map { begin(&page.requests[$0]) }
        // Spans of the rest belong to the span of a request by itself; in a page they have no single one.
        let parent = spans.count == 1 ? spans[0].context : ServiceContext.current ?? .topLevel
        let answers = await ServiceContext.withValue(parent) { [page] in await next(page) }
        for (span, answer) in zip(spans, answers) {
            end(span, answer)
        }
        return answers
    }

    private func begin(_ request: inout SyncRequest) -> any Span {
        let context = request.context
        let name = isRequest ? "HTTP \(request.head.method.rawValue)" : "sluice \(context.action.rawValue)"
        let span = tracer.startAnySpan(name, ofKind: isRequest ? .client : .internal)
        if let table = context.table { span.attributes["sluice.table"] = table }
        if let record = context.recordID { span.attributes["sluice.record"] = "\(record)" }
        if let operation = context.operationID { span.attributes["sluice.operation"] = operation }
        if isRequest {
            span.attributes["http.request.method"] = request.head.method.rawValue
            span.attributes["http.request.resend_count"] = context.attempt
            tracer.inject(span.context, into: &request.head.headerFields, using: FieldInjector())
        }
        return span
    }

    private func end(_ span: any Span, _ answer: Result<SyncResponse, any Error>) {
        switch answer {
        case .success(let response) where isRequest:
            span.attributes["http.response.status_code"] = response.status
            if response.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        case .success: break
        case .failure(let error):
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }
}

private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
        if let name = HTTPField.Name(key) { carrier[name] = value }
    }
}
