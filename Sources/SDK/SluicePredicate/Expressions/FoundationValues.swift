public import SluiceCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Foundation's types in their form in records: as sent by servers, and as compared with constants of predicates.

extension Date: JSONSingleValue {
    package static var expectation: String { "the text of a time" }

    /// To the microsecond. A `Date` is a double of seconds since 2001, and every other arithmetic on it rounds.
    package init?(json: JSON) {
        guard let time = json.string.flatMap({ Timestamp($0) }) else { return nil }
        let perSecond = Timestamp.ticksPerSecond
        let (seconds, ticks) = (time.ticks - Self.ticksOf2001).quotientAndRemainder(dividingBy: perSecond)
        self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(ticks) / Double(perSecond))
    }

    private static let ticksOf2001 = 978_307_200 * Timestamp.ticksPerSecond

    package var json: JSON? {
        timestamp.map { JSON($0.text(fractionDigits: $0.ticks % 10_000 == 0 ? 3 : 7)) }
    }

    /// The time to the microsecond; nil for one that is no number or outside the years 0001 to 9999.
    var timestamp: Timestamp? {
        let whole = timeIntervalSinceReferenceDate.rounded(.down)
        guard let seconds = Int64(nearest: whole), seconds.magnitude < 1 << 38,
            let microseconds = Int64(nearest: (timeIntervalSinceReferenceDate - whole) * 1_000_000)
        else { return nil }
        let perMicrosecond = Timestamp.ticksPerSecond / 1_000_000
        let ticks = seconds * Timestamp.ticksPerSecond + microseconds * perMicrosecond + Self.ticksOf2001
        let time = Timestamp(ticks: ticks)
        return time.ticks == ticks ? time : nil
    }
}

extension Data: JSONSingleValue {
    package static var expectation: String { "a text in base64" }

    package init?(json: JSON) {
        guard let text = json.string else { return nil }
        self.init(base64Encoded: text)
    }

    package var json: JSON? { JSON(base64EncodedString()) }
}

extension URL: JSONSingleValue {
    package static var expectation: String { "the text of a URL" }

    package init?(json: JSON) {
        guard let text = json.string else { return nil }
        self.init(string: text)
    }

    package var json: JSON? { JSON(absoluteString) }
}

extension Decimal: JSONSingleValue {
    package static var expectation: String { "a number that a Decimal holds" }

    package init?(json: JSON) {
        guard let number = json.number, let value = Decimal(string: number.description) else { return nil }
        self = value
    }

    package var json: JSON? { JSON.Number(text: description).map { JSON($0) } }
}

/// In small letters, as servers and this library generate ids; Foundation writes capitals.
extension UUID: JSONSingleValue {
    package static var expectation: String { "the text of a UUID" }

    package init?(json: JSON) {
        guard let text = json.string else { return nil }
        self.init(uuidString: text)
    }

    package var json: JSON? { JSON(uuidString.lowercased()) }
}

extension UUID: RecordIDConvertible {
    /// The text of the UUID in small letters.
    public var recordID: RecordID { RecordID(uuidString.lowercased()) }
}

extension SluiceError: LocalizedError {
    /// The error's description.
    public var errorDescription: String? { description }
    /// The error's next step.
    public var recoverySuggestion: String? { remedy }
}
