/// Text from servers and files, made safe to show.
enum Plain {
    /// The text as one line: control characters, which could move a terminal's cursor, become spaces.
    static func line(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                    return isControl || scalar == "\u{2028}" || scalar == "\u{2029}" ? " " : scalar
                }))
    }

    /// The number with its thousands apart: `12,345`.
    static func count(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// The number and its noun: `1 row`, `2 rows`.
    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}
