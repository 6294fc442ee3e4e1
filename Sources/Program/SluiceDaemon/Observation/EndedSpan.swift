internal import Sluice
internal import Tracing

/// A completed span, ready for export.
struct EndedSpan: Sendable {
    static let mostEvents = 16

    var context: TraceContext
    var parent: String?
    var name: String
    var kind: SpanKind
    /// Nanoseconds since 1970.
    var begin: UInt64
    var end: UInt64 = 0
    var attributes: SpanAttributes = [:]
    var events: [SpanEvent] = []
    var status: SpanStatus?

    /// The span in OTLP's JSON (opentelemetry-proto, `trace.proto`): identifiers in hexadecimal digits, 64-bit numbers
    /// as texts.
    var json: JSON {
        var json: JSON = [
            "traceId": JSON(context.trace), "spanId": JSON(context.span), "name": JSON(name), "kind": JSON(number),
            "startTimeUnixNano": JSON(String(begin)), "endTimeUnixNano": JSON(String(end)),
            "attributes": Self.json(attributes),
        ]
        json["parentSpanId"] = parent.map { JSON($0) }
        if !events.isEmpty {
            json["events"] = JSON(
                events.map { event -> JSON in
                    [
                        "timeUnixNano": JSON(String(event.nanosecondsSinceEpoch)), "name": JSON(event.name),
                        "attributes": Self.json(event.attributes),
                    ]
                })
        }
        switch status?.code {
        case .ok?: json["status"] = ["code": 1]
        case .error?: json["status"] = ["code": 2]
        case nil: break
        }
        return json
    }

    private var number: Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }

    private static func json(_ attributes: SpanAttributes) -> JSON {
        var list: [(String, JSON)] = []
        attributes.forEach { name, value in
            if let value = json(value) { list.append((name, value)) }
        }
        return JSON(list.sorted { $0.0 < $1.0 }.map { ["key": JSON($0.0), "value": $0.1] as JSON })
    }

    /// Returns an attribute's value as JSON; nil for a kind that sync does not use.
    private static func json(_ value: SpanAttribute) -> JSON? {
        switch value {
        case .int32(let number): ["intValue": JSON(String(number))]
        case .int64(let number): ["intValue": JSON(String(number))]
        case .double(let number): ["doubleValue": JSON(number)]
        case .bool(let flag): ["boolValue": JSON(flag)]
        case .string(let text): ["stringValue": JSON(text)]
        default: nil
        }
    }
}

enum ErrorCode {
    /// Returns the kind of an error without its text, which may hold a record's content.
    static func of(_ error: any Error) -> String {
        (error as? SluiceError)?.code.description ?? String(describing: type(of: error))
    }
}
