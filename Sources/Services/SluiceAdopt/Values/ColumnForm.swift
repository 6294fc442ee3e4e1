internal import SluiceBase
internal import SluiceSQLite

/// The form in which an old store keeps the values of a column.
enum ColumnForm: Hashable, CustomStringConvertible {
    case text, integer, number, boolean, json
    /// Bytes; the wire has them as base64.
    case bytes
    /// A GUID in capitals; the wire has small letters.
    case guid
    /// A time as a number of such units after a beginning, which is given in seconds after 1970.
    case time(ticks: Double, from: Int64)
    /// A time as the text that the server or the device has written.
    case timeText
    /// A time as EF Core writes a DateTimeOffset.
    case offsetTime
    /// A time as EF Core writes a DateTime: of the device's time zone, without naming it.
    case localTime

    /// Seconds after 1970, with three decimals.
    static let seconds = ColumnForm.time(ticks: 1e7, from: 0)
    /// Milliseconds after 1970, with three decimals at most.
    static let milliseconds = ColumnForm.time(ticks: 1e4, from: 0)
    /// Seconds after 2001, as Core Data has them.
    static let secondsSince2001 = ColumnForm.time(ticks: 1e7, from: 978_307_200)

    /// The form in a message.
    var description: String {
        switch self {
        case .text: "text"
        case .integer, .number: "number"
        case .boolean: "boolean"
        case .json: "JSON"
        case .bytes: "bytes"
        case .guid: "GUID"
        case .time, .timeText, .offsetTime, .localTime: "time"
        }
    }

    /// Returns the value as the wire writes it; nil for one that is not of this form.
    ///
    /// - Parameter utc: returns the time in UTC that a clock of the device's zone shows so.
    func json(_ value: SQLValue, utc: (@Sendable (Timestamp) -> Timestamp)?) -> JSON? {
        if value == .null { return .null }
        switch (self, value) {
        case (.text, .text(let text)): return JSON(text)
        // A column without the affinity of texts has made a number of the text.
        case (.text, .integer(let value)): return JSON("\(value)")
        case (.text, .real(let value)): return JSON.Number(value).map { JSON($0.description) }
        case (.integer, .integer(let value)), (.number, .integer(let value)): return JSON(value)
        case (.integer, .real(let value)), (.number, .real(let value)):
            return JSON.Number(value).map { JSON($0) }
        case (.integer, .text(let text)), (.number, .text(let text)):
            guard let number = JSON.Number(text: text) else { return nil }
            return number.int.map { JSON($0) } ?? JSON(number)
        case (.boolean, .integer(0)), (.boolean, .real(0)): return JSON(false)
        case (.boolean, .integer(1)), (.boolean, .real(1)): return JSON(true)
        case (.json, .text(let text)): return try? JSON(parsing: text)
        case (.bytes, .blob(let bytes)): return JSON(Base64.text(bytes))
        case (.bytes, .text(let text)): return JSON(text)
        case (.guid, .text(let text)): return JSON(text.lowercased())
        case (.time(let unit, let start), .integer(let value)):
            return Self.time(Double(value), unit, start)
        case (.time(let unit, let start), .real(let value)): return Self.time(value, unit, start)
        case (.timeText, .text(let text)): return Timestamp(text) == nil ? nil : JSON(text)
        case (.offsetTime, .text(let text)):
            return Self.hasOffset(text) ? Timestamp(text).map { JSON($0.wireText) } : nil
        case (.localTime, .text(let text)):
            guard !Self.hasOffset(text), let local = Timestamp(text) else { return nil }
            // .NET's default, which no conversion moves.
            return JSON((local == .earliest ? local : utc?(local) ?? local).wireText)
        default: return nil
        }
    }

    /// Returns the time of a number. Old stores round to three decimals of a unit, which a double holds exactly enough.
    private static func time(_ value: Double, _ unit: Double, _ start: Int64) -> JSON? {
        guard let thousandths = Int64(nearest: value * 1000), let step = Int64(exactly: unit / 1000) else { return nil }
        let (ticks, overflows) = thousandths.multipliedReportingOverflow(by: step)
        let (sum, isTooLarge) = ticks.addingReportingOverflow(start * Timestamp.ticksPerSecond)
        guard !overflows, !isTooLarge, Timestamp(ticks: sum).ticks == sum else { return nil }
        return JSON(Timestamp(ticks: sum).wireText)
    }

    static func hasOffset(_ text: String) -> Bool {
        let end = text.utf8.suffix(6)
        return text.hasSuffix("Z")
            || end.count == 6 && (end.first == UInt8(ascii: "+") || end.first == UInt8(ascii: "-"))
    }

    /// Whether the text is a time as EF Core writes it: `2019-01-02 03:04:05.678`, with or without an offset.
    static func isEFTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count >= 19 && bytes[10] == UInt8(ascii: " ") && bytes[13] == UInt8(ascii: ":")
            && bytes[16] == UInt8(ascii: ":") && Timestamp(text) != nil
    }
}

extension Timestamp {
    /// The time as servers of the tables wires write it: with milliseconds, or seven digits where it has more.
    var wireText: String { text(fractionDigits: ticks % 10_000 == 0 ? 3 : 7) }
}
