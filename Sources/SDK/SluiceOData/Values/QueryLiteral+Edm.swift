internal import SluiceBase

/// Conversions between constants of queries and plain texts of values.
extension TableQuery.Literal {
    /// Returns the constant's plain text, as in ``EdmLiteral``; nil for a kind that no property of the type has.
    func plain(as type: EdmPrimitive) -> String? {
        switch self {
        case .null: nil
        case .bool(let value): value ? "true" : "false"
        case .string(let text): type == .guid ? text.lowercased() : text
        case .number(let number): number.description
        case .date(let date):
            type == .date ? String(EdmLiteral.text(of: date).prefix(10)) : EdmLiteral.text(of: date)
        case .day(let day): type == .date ? String(day.text(fractionDigits: 0).prefix(10)) : day.text(fractionDigits: 0)
        case .timeOfDay(let time): type == .timeOfDay ? time.timeOfDayText : nil
        case .guid(let text): text.lowercased()
        case .point, .shape, .enumeration, .duration, .infinity, .binary, .notANumber: nil
        }
    }

    /// Creates the constant of a plain text, in the kind that records use for the type.
    init(plain: String, type: EdmPrimitive) {
        let value = EdmValue.json(plain: plain, type: type)
        if let number = value.number {
            self = .number(number)
        } else {
            self = value.bool.map { .bool($0) } ?? .string(plain)
        }
    }
}

extension EdmLiteral {
    /// Returns a moment's text: milliseconds, and all seven digits only if necessary.
    static func text(of date: Timestamp) -> String {
        date.text(fractionDigits: date.ticks % (Timestamp.ticksPerSecond / 1000) == 0 ? 3 : 7)
    }
}
