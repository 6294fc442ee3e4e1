extension JSON {
    /// A number of a JSON text: exact where an `Int64` or a `Double` can hold it, otherwise its text.
    ///
    /// A number is an `Int64` if its text is that integer's, and a `Double` if the double prints as the same text.
    /// Otherwise it stays a text: 2⁶⁴, `12345678901234567.89`, `1.10` and `1e5` are all written as they were read.
    public struct Number: Sendable, Hashable, CustomStringConvertible {
        package enum Storage: Sendable {
            case int(Int64)
            case double(Double)
            case text(String)
        }

        package let storage: Storage

        /// An integer.
        public init(_ value: Int64) { storage = .int(value) }

        /// A finite double, or nil: JSON cannot express infinity and NaN.
        public init?(_ value: Double) {
            guard value.isFinite else { return nil }
            storage = .double(value)
        }

        /// A number from JSON's number grammar, or nil for any other `text`.
        public init?(text: String) {
            let bytes = Array(text.utf8)
            let parsed = bytes.withUnsafeBufferPointer { buffer -> JSON.Number? in
                guard let tape = try? JSONTape(buffer), let token = tape.tokens.first, token.kind == .number,
                    token.start == 0, Int(token.end) == buffer.count
                else { return nil }
                return JSON.Number(valid: buffer, hasFraction: token.flag)
            }
            guard let parsed else { return nil }
            self = parsed
        }

        /// A number from bytes that ``JSONTape`` has found valid.
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

        /// Returns the integer if it prints as the same bytes (so not for `-0`); nil otherwise.
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

        /// Returns the double of a short number, if it prints as the same bytes. Such a number has at most 15 digits, no
        /// exponent and no needless zeros; a zero before the point needs a digit other than zero after the point. Its
        /// digits and its power of ten are exact doubles, so their quotient is the nearest one.
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

        /// The number, if it is an integer within `Int64`, in any notation (`5`, but also `5.0` and `5e0`).
        public var int: Int64? { integer() }

        /// Returns the number, if it is an integer within `Integer`.
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

        /// The number's JSON text.
        public var description: String {
            switch storage {
            case .int(let value): String(value)
            case .double(let value): value.description
            case .text(let text): text
            }
        }

        /// Whether both are exactly the same number: `1`, `1.0` and `1.00` are, 2⁶⁴ and 2⁶⁴ + 1 are not. A double has the
        /// value of its printed digits.
        public static func == (left: JSON.Number, right: JSON.Number) -> Bool {
            switch (left.storage, right.storage) {
            case (.int(let a), .int(let b)): a == b
            case (.double(let a), .double(let b)): a == b
            default: JSONDecimal(left.description) == JSONDecimal(right.description)
            }
        }

        /// Equal numbers have the same nearest double.
        public func hash(into hasher: inout Hasher) { hasher.combine(double) }

        /// Returns the order of two numbers in queries: -1, 0 or 1. Integers and doubles are compared exactly, also with
        /// each other. Any other number counts as its nearest double, as in every store.
        package static func queryOrder(_ left: JSON.Number, _ right: JSON.Number) -> Int {
            switch (left.storage, right.storage) {
            case (.int(let a), .int(let b)): a < b ? -1 : a > b ? 1 : 0
            case (.int(let a), _): order(a, right.double)
            case (_, .int(let b)): -order(b, left.double)
            default: left.double < right.double ? -1 : left.double > right.double ? 1 : 0
            }
        }

        /// Returns the order of an integer and a double, without the rounding of a conversion.
        package static func order(_ a: Int64, _ b: Double) -> Int {
            let whole = b.rounded(.down)
            guard let floor = Int64(exactly: whole) else { return b < 0 ? 1 : -1 }
            return a < floor ? -1 : a > floor ? 1 : b > whole ? -1 : 0
        }
    }
}

/// The parts of a number's text, so that two texts can be compared as numbers without rounding.
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

    /// Returns the number, if it is an integer within `Integer`.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if digits.isEmpty { return 0 }
        // No type here has more than 40 digits; writing out a longer number would take too much memory.
        guard hugeExponent.isEmpty, (0..<40).contains(exponent), digits.count + exponent <= 40 else { return nil }
        let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
        return Integer((negative ? "-" : "") + text)
    }
}
