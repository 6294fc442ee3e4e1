internal import SluiceCore

/// `time`: points in time as seconds since 1970, in UTC.
enum TimeFunctions {
    static func seconds(_ time: Timestamp) -> JSON { JSON(Double(time.ticks) / Double(Timestamp.ticksPerSecond)) }

    static func timestamp(_ seconds: Double) -> Timestamp? {
        guard seconds.magnitude < 1e12 else { return nil }
        return Timestamp(ticks: Int64((seconds * Double(Timestamp.ticksPerSecond)).rounded()))
    }

    /// The seconds of an ISO 8601 text; nil if it is none.
    static func parse(_ arguments: JSON) -> JSON? {
        arguments[0]?.string.flatMap { Timestamp($0) }.map(seconds)
    }

    /// The ISO 8601 text of seconds, with three fraction digits or as many as are asked for.
    static func format(_ arguments: JSON) throws -> JSON {
        guard let time = arguments[0]?.double.flatMap(timestamp) else {
            throw ScriptFailure(.runtime, "time.format takes seconds since 1970")
        }
        return JSON(time.text(fractionDigits: Int(arguments[1]?.int ?? 3)))
    }
}
