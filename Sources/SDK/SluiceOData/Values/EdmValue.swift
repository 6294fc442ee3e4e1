package import SluiceBase

/// Converts a property's value between records and the wire's JSON.
///
/// Records hold numbers as exact numbers, and times as ISO 8601 text, on every wire. v2 writes 64-bit integers and
/// decimals as strings, and times as `/Date(milliseconds+minutes)/` (OData v2, JSON Format, section 4).
package enum EdmValue {
    /// Returns the value for a record.
    package static func fromWire(_ value: JSON, type: EdmPrimitive?, version: ODataVersion) -> JSON {
        guard let text = value.string else { return value }
        switch type {
        case .int64, .decimal, .byte, .sbyte, .int16, .int32, .single, .double:
            // Also for a v4 service that sends IEEE754Compatible JSON, requested or not.
            return JSON.Number(text: text).map { JSON($0) } ?? value
        case .dateTime where version == .v2, .dateTimeOffset where version == .v2:
            return V2Date(text).map { JSON($0.text) } ?? value
        case .guid: return JSON(text.lowercased())
        case nil where version == .v2 && text.hasPrefix("/Date("):
            return V2Date(text).map { JSON($0.text) } ?? value
        default: return value
        }
    }

    /// Returns the value for the wire.
    package static func toWire(_ value: JSON, type: EdmPrimitive?, version: ODataVersion) -> JSON {
        switch type {
        case .int64 where version == .v2, .decimal where version == .v2:
            return value.number.map { JSON($0.description) } ?? value
        case .dateTime where version == .v2, .dateTimeOffset where version == .v2:
            let date = value.string.flatMap { V2Date(iso: $0) }
            return date.map { JSON($0.wire(hasOffset: type == .dateTimeOffset)) } ?? value
        default: return value
        }
    }

    /// Returns the plain text of a record's value, as in ``EdmLiteral``; nil for a value that cannot be in a key.
    package static func plain(_ value: JSON) -> String? {
        switch value.kind {
        case .string: value.string
        case .number: value.number?.description
        case .bool: value.bool.map { $0 ? "true" : "false" }
        default: nil
        }
    }

    /// Returns the plain text of a property's value, from a record or the wire; nil if it is missing or null.
    package static func plain(_ value: JSON?, type: EdmPrimitive, version: ODataVersion) -> String? {
        value.flatMap { plain(fromWire($0, type: type, version: version)) }
    }

    /// Returns the one spelling of a key's value. A service may write equal GUIDs, numbers and times in several: `3.50` in
    /// a list and `3.5` in an address.
    static func keyText(_ plain: String, type: EdmPrimitive) -> String {
        switch type {
        case .guid: return plain.lowercased()
        case .byte, .sbyte, .int16, .int32, .int64: return Int64(plain).map(String.init) ?? plain
        case .decimal: return decimalText(plain)
        case .dateTimeOffset, .dateTime:
            let fraction = plain.split(separator: ".").dropFirst().first?.prefix { $0.isNumber } ?? ""
            // A timestamp holds seven digits.
            guard fraction.count <= 7, let time = Timestamp(plain) else { return plain }
            return V2Date.text(time)
        default: return plain
        }
    }

    /// The largest exponent that is written out. No service's decimals have as many digits.
    private static let mostShifted = 400

    /// Returns a decimal in plain digits, without zeros that say nothing; the text itself if it is none.
    private static func decimalText(_ text: String) -> String {
        let isNegative = text.hasPrefix("-")
        let unsigned = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let halves = unsigned.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        let parts = halves[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let exponent = halves.count == 1 ? 0 : Int(halves[1]), abs(exponent) <= mostShifted,
            parts.contains(where: { !$0.isEmpty }),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return text }
        var (whole, fraction) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        if exponent > 0 {
            fraction += String(repeating: "0", count: max(0, exponent - fraction.count))
            whole += fraction.prefix(exponent)
            fraction.removeFirst(exponent)
        } else if exponent < 0 {
            whole = String(repeating: "0", count: max(0, -exponent - whole.count)) + whole
            fraction = whole.suffix(-exponent) + fraction
            whole.removeLast(-exponent)
        }
        whole = String(whole.drop { $0 == "0" })
        while fraction.last == "0" { fraction.removeLast() }
        let number = (whole.isEmpty ? "0" : whole) + (fraction.isEmpty ? "" : ".\(fraction)")
        return isNegative && number != "0" ? "-\(number)" : number
    }

    /// Returns the value of a plain text.
    package static func json(plain: String, type: EdmPrimitive) -> JSON {
        switch type {
        case .byte, .sbyte, .int16, .int32, .int64, .decimal, .single, .double:
            JSON.Number(text: plain).map { JSON($0) } ?? JSON(plain)
        case .boolean: JSON(plain == "true")
        default: JSON(plain)
        }
    }
}

/// A point in time in v2's JSON: milliseconds since 1970 and, for a time with a zone, its offset in minutes.
package struct V2Date: Sendable, Hashable {
    /// The point in time.
    package let instant: Timestamp
    /// Minutes east of UTC; nil if none were written.
    package let offset: Int64?

    private static let longestOffset: Int64 = 14 * 60
    private static let ticksPerMinute = 60 * Timestamp.ticksPerSecond

    /// Reads `/Date(1379289600000)/` or `/Date(1379289600000+0060)/`; nil for anything else, and for a year before 1 or
    /// after 9999.
    package init?(_ text: String) {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/"), text.utf8.count > 8 else { return nil }
        let inner = text.dropFirst(6).dropLast(2)
        let digits = inner.dropFirst().firstIndex { $0 == "+" || $0 == "-" } ?? inner.endIndex
        guard let milliseconds = Int64(inner[..<digits]) else { return nil }
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(by: 10_000)
        guard !overflow, Timestamp(ticks: ticks).ticks == ticks else { return nil }
        instant = Timestamp(ticks: ticks)
        if digits == inner.endIndex {
            offset = nil
        } else {
            guard let minutes = Int64(inner[digits...]), (-Self.longestOffset...Self.longestOffset).contains(minutes)
            else { return nil }
            offset = minutes
        }
    }

    /// Reads a record's text.
    package init?(iso text: String) {
        guard let time = Timestamp(text) ?? Timestamp(text + "Z") else { return nil }
        instant = time
        offset = Self.zone(of: text)
    }

    /// Returns the minutes of `+02:00` at the end of the text; nil for UTC, and if there is no zone.
    private static func zone(of text: String) -> Int64? {
        let zone = Array(text.utf8.suffix(6))
        guard zone.count == 6, zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"),
            zone[3] == UInt8(ascii: ":"),
            let hours = Int64(String(decoding: zone[1...2], as: UTF8.self)),
            let minutes = Int64(String(decoding: zone[4...5], as: UTF8.self))
        else { return nil }
        return (zone[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }

    /// The record's text: in UTC, or in the zone that was written; with milliseconds if there are some.
    package var text: String {
        guard let offset, offset != 0 else { return Self.text(instant) }
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let local = Timestamp(ticks: instant.ticks + offset * Self.ticksPerMinute)
        let (hours, minutes) = abs(offset).quotientAndRemainder(dividingBy: 60)
        return "\(Self.text(local).dropLast())\(offset < 0 ? "-" : "+")\(two(hours)):\(two(minutes))"
    }

    /// Returns the time in UTC, with as many digits as necessary: none, three or seven.
    package static func text(_ time: Timestamp) -> String {
        let second = Timestamp.ticksPerSecond
        return time.text(fractionDigits: time.ticks % second == 0 ? 0 : time.ticks % (second / 1000) == 0 ? 3 : 7)
    }

    /// Returns the wire's text.
    package func wire(hasOffset: Bool) -> String {
        let (quotient, remainder) = instant.ticks.quotientAndRemainder(dividingBy: 10_000)
        let milliseconds = remainder < 0 ? quotient - 1 : quotient
        if !hasOffset { return "/Date(\(milliseconds))/" }
        let digits = String(abs(offset ?? 0))
        let padded = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        return "/Date(\(milliseconds)\((offset ?? 0) < 0 ? "-" : "+")\(padded))/"
    }
}
