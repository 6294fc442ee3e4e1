package import SluiceCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

// Foundation's types as they stand in records: as servers send them, and as constants of predicates are compared.

extension Date: JSONSingleValue {
    package static var expectation: String { "the text of a time" }

    /// To the microsecond: a `Date` is a double of seconds, and no finer than a tenth of that.
    package init?(json: JSON) {
        guard let time = json.string.flatMap({ Timestamp($0) }) else { return nil }
        self.init(timeIntervalSince1970: Double(time.ticks) / Double(Timestamp.ticksPerSecond))
    }

    package var json: JSON? {
        timestamp.map { JSON($0.text(fractionDigits: $0.ticks % 10_000 == 0 ? 3 : 7)) }
    }

    /// The time to the microsecond; nil for one that is no number or outside the years 0001 to 9999.
    var timestamp: Timestamp? {
        guard let microseconds = Int64(nearest: timeIntervalSince1970 * 1_000_000), microseconds.magnitude < 1 << 58
        else { return nil }
        let ticks = microseconds * (Timestamp.ticksPerSecond / 1_000_000)
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

    package var json: JSON? { JSONNumber(text: description).map { JSON($0) } }
}
