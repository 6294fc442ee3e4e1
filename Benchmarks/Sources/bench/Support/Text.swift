extension Double {
    /// The number with so many digits after its point.
    func fixed(_ digits: Int) -> String {
        guard isFinite else { return "0" }
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((self * Double(scale)).rounded())
        if digits == 0 { return String(scaled) }
        let fraction = String(abs(scaled) % scale)
        let sign = scaled < 0 ? "-" : ""
        return "\(sign)\(abs(scaled) / scale).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
    }
}

extension String {
    /// The text at the left of a column.
    func left(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// The text at the right of a column.
    func right(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

extension [Double] {
    /// The value in the middle; the mean of the two there of an even number of values.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
