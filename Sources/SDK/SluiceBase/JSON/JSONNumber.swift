/// A number of a JSON text, exactly as far as it can be computed with and otherwise as it was written.
///
/// A number is an `Int64` if its text is that integer's; a `Double` if printing the double gives the text back; else
/// its text: 2⁶⁴, `12345678901234567.89`, `1.10` and `1e5` all leave as they came.
public struct JSONNumber: Sendable, Hashable, CustomStringConvertible {
    package enum Storage: Sendable {
        case int(Int64)
        case double(Double)
        case text(String)
    }

    package let storage: Storage

    /// An integer.
    public init(_ value: Int64) { storage = .int(value) }

    /// A finite double, or nil: JSON has no word for infinity and for what is not a number.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        storage = .double(value)
    }

    /// A number from JSON's number grammar, or nil if `text` is not of it.
    public init?(text: String) {
        let bytes = Array(text.utf8)
        let parsed = bytes.withUnsafeBufferPointer { buffer -> JSONNumber? in
            guard let tape = try? JSONTape(buffer), let token = tape.tokens.first, token.kind == .number,
                token.start == 0, Int(token.end) == buffer.count
            else { return nil }
            return JSONNumber(valid: buffer, hasFraction: token.flag)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    /// A number whose bytes ``JSONTape`` has found valid.
    package init(valid bytes: UnsafeBufferPointer<UInt8>, hasFraction: Bool) {
        if !hasFraction {
            if let int = Self.int64(bytes) {
                storage = .int(int)
                return
            }
        } else if let double = Self.shortDecimal(bytes) {
            storage = .double(double)
            return
        } else {
            let text = String(decoding: bytes, as: UTF8.self)
            if let double = Double(text), double.isFinite, double.description == text {
                storage = .double(double)
                return
            }
        }
        storage = .text(String(decoding: bytes, as: UTF8.self))
    }

    /// The integer, if that is what the bytes are, in the form in which it is printed (so not `-0`).
    private static func int64(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard let first = bytes.first, bytes.count <= 20 else { return nil }
        let negative = first == UInt8(ascii: "-")
        var value: Int64 = 0
        for byte in bytes.dropFirst(negative ? 1 : 0) {
            let (shifted, high) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte &- 0x30)
            let (sum, low) =
                negative ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
            if high || low { return nil }
            value = sum
        }
        return negative && value == 0 ? nil : value
    }

    /// The double of a number that is short and plain enough for the double to print back as it is: at most 15 digits,
    /// no exponent, no idle zero at the end, and before the point no zero but one with a digit other than zero after
    /// the point. Digits and power of ten are exact doubles then, so that their quotient is the nearest one.
    private static func shortDecimal(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        let start = bytes.first == UInt8(ascii: "-") ? 1 : 0
        guard bytes.count - start >= 3, bytes.count <= 16 else { return nil }
        let first = bytes[start]
        guard first != UInt8(ascii: "0") || bytes[start + 2] &- 0x31 < 9 else { return nil }
        var digits: Int64 = 0
        var scale = 1.0
        var isFraction = false
        for byte in bytes[start...] {
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            guard byte &- 0x30 < 10 else { return nil }
            digits = digits * 10 + Int64(byte &- 0x30)
            if isFraction { scale *= 10 }
        }
        let last = bytes[bytes.count - 1]
        let endsInPointZero = last == UInt8(ascii: "0") && bytes[bytes.count - 2] == UInt8(ascii: ".")
        guard isFraction, last != UInt8(ascii: "0") || endsInPointZero else { return nil }
        let double = Double(digits) / scale
        return start == 1 ? -double : double
    }

    /// The number, if it is an integer within `Int64`, however it was written (`5`, but also `5.0` and `5e0`).
    public var int: Int64? { integer() }

    /// The number, if it is an integer within `Integer`.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        switch storage {
        case .int(let value): Integer(exactly: value)
        case .double(let value):
            value.magnitude <= 0x1p53 ? Integer(exactly: value) : JSONDecimal(value.description).integer()
        case .text(let text): JSONDecimal(text).integer()
        }
    }

    /// The double nearest to the number; infinite where the number is beyond every double.
    public var double: Double {
        switch storage {
        case .int(let value): Double(value)
        case .double(let value): value
        case .text(let text): Double(text) ?? .infinity
        }
    }

    /// The number as it is written to JSON.
    public var description: String {
        switch storage {
        case .int(let value): String(value)
        case .double(let value): value.description
        case .text(let text): text
        }
    }

    /// Whether both are the same number, exactly: `1`, `1.0` and `1.00` are, 2⁶⁴ and 2⁶⁴ + 1 are not. A double is the
    /// number that it is printed as.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left.storage, right.storage) {
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        default: JSONDecimal(left.description) == JSONDecimal(right.description)
        }
    }

    /// Equal numbers have the same nearest double.
    public func hash(into hasher: inout Hasher) { hasher.combine(double) }

    /// The order in which queries see two numbers: -1, 0 or 1. Integers and doubles are compared exactly, with each
    /// other too; a number that is neither stands as its nearest double, as it does in every store.
    package static func queryOrder(_ left: JSONNumber, _ right: JSONNumber) -> Int {
        switch (left.storage, right.storage) {
        case (.int(let a), .int(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.int(let a), _): order(a, right.double)
        case (_, .int(let b)): -order(b, left.double)
        default: left.double < right.double ? -1 : left.double > right.double ? 1 : 0
        }
    }

    /// The order of an integer and a double, without the rounding of a conversion.
    package static func order(_ a: Int64, _ b: Double) -> Int {
        let whole = b.rounded(.down)
        guard let floor = Int64(exactly: whole) else { return b < 0 ? 1 : -1 }
        return a < floor ? -1 : a > floor ? 1 : b > whole ? -1 : 0
    }
}

/// A number's text taken apart, so that two texts can be compared for being the same number without rounding either.
struct JSONDecimal: Hashable {
    private var negative = false
    /// The digits without zeros at either end; none for zero.
    private var digits: [UInt8] = []
    /// The power of ten of the last digit, or the exponent's own text where it is beyond `Int`.
    private var exponent = 0
    private var hugeExponent = ""

    init(_ text: String) {
        var exponentText = Substring()
        var mantissa = Substring(text)
        if let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            mantissa = text[..<mark]
            exponentText = text[text.index(after: mark)...]
        }
        var point = 0
        var afterPoint = false
        for byte in mantissa.utf8 {
            switch byte {
            case UInt8(ascii: "-"): negative = true
            case UInt8(ascii: "."): afterPoint = true
            default:
                digits.append(byte)
                if afterPoint { point += 1 }
            }
        }
        digits.removeFirst(digits.prefix { $0 == UInt8(ascii: "0") }.count)
        let idle = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeLast(idle)
        if digits.isEmpty {
            negative = false
        } else if let written = Int(exponentText.isEmpty ? "0" : exponentText), written.magnitude < 1 << 62 {
            exponent = written - point + idle
        } else {
            hugeExponent = String(exponentText)
            exponent = idle - point
        }
    }

    /// The number, if it is an integer within `Integer`.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if digits.isEmpty { return 0 }
        // No type here has more than 40 digits: a longer number must not be written out.
        guard hugeExponent.isEmpty, (0..<40).contains(exponent), digits.count + exponent <= 40 else { return nil }
        let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
        return Integer((negative ? "-" : "") + text)
    }
}
