package import SluiceCore

extension HostModule {
    static let time = HostModule(
        "time", "sluice.Time", "Points in time, as seconds since 1970 in UTC.",
        [
            .host("now", [], "number", "The time now. Needs the permission `clock`.", permission: .clock) { call in
                let now = call.host.isDeterministic ? call.hook?.startedAt : call.host.settings.environment.now()
                guard let now else { throw Denied("time.now cannot be used while a deterministic plugin is loaded") }
                return .value(TimeFunctions.seconds(now))
            },
            .host("parse", [("text", "string")], "number?", "The time that an ISO 8601 text says.") {
                .value(TimeFunctions.parse($0.arguments))
            },
            .host(
                "format", [("seconds", "number"), ("digits?", "integer")], "string",
                "The time as ISO 8601, with three fraction digits or as many as asked for. Years 1 to 9999."
            ) { .value(try TimeFunctions.format($0.arguments)) },
            .lua(
                "add", [("time", "number"), ("seconds", "number")], "number", "The time so much later.",
                "function(t, seconds) return t + seconds end"),
        ])
}

/// `time`: points in time as seconds since 1970, in UTC.
package enum TimeFunctions {
    package static func seconds(_ time: Timestamp) -> JSON {
        JSON(Double(time.ticks) / Double(Timestamp.ticksPerSecond))
    }

    /// Returns the seconds of an ISO 8601 text; nil if it is not one, because a field without a time is no error.
    static func parse(_ arguments: HostArguments) -> JSON? {
        arguments[0]?.string.flatMap { Timestamp($0) }.map(seconds)
    }

    /// Returns the ISO 8601 text of seconds, with three fraction digits or the number asked for.
    static func format(_ arguments: HostArguments) throws -> JSON {
        guard let time = arguments[0]?.double.flatMap({ Timestamp(secondsSince1970: $0) }) else {
            throw ScriptFailure(.runtime, "time.format takes seconds since 1970, of the years 1 to 9999")
        }
        let digits = try arguments.optionalWhole(1, "a number of fraction digits") ?? 3
        return JSON(time.text(fractionDigits: Int(clamping: digits)))
    }
}
