extension BinaryInteger {
    /// The number with its thousands apart: `12,345`.
    package var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// The number and its noun, as every message has them: `1 row`, `2 rows`. A sentence around it has no verb whose form
    /// depends on the number.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
    }
}
