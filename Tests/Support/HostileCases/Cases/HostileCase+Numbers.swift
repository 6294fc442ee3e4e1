internal import SluiceCore

extension HostileCase {
    /// Numbers: each is kept as it was sent, to the last digit, or the page is refused.
    static var numbers: [HostileCase] {
        let kept = [
            ("2^53 + 1", "9007199254740993"), ("the largest of 64 bits", "9223372036854775807"),
            ("the smallest of 64 bits", "-9223372036854775808"), ("one more than 64 bits hold", "9223372036854775808"),
            ("2^64", "18446744073709551616"), ("a thousand digits", String(repeating: "9", count: 1000)),
            ("1e400", "1e400"), ("-1e400", "-1e400"), ("1e-400", "1e-400"), ("a huge exponent", "1e99999999999"),
            ("0.1 to thirty places", "0.100000000000000000000000000001"),
            ("a price", "1.10"), ("a decimal of 38 digits", "12345678901234567890.123456789012345678"),
            ("pi to a thousand places", "3." + String(repeating: "1415926535", count: 100)),
        ]
        return kept.map { name, number in
            HostileCase(
                .numbers, name, .pull,
                .brings(["a", "b", "x"], cursor: .at(HostileRows.time), texts: ["\"n\":\(number)"]),
                answer: once(HostileRows.page([HostileRows.row("x", "\"n\":\(number)")])))
        }
            + ["-0", "-0.0", "0e0", "1E5", "1e+5"].map { number in
                HostileCase(
                    .numbers, "the spelling \(number)", .pull, HostileRows.brought,
                    answer: once(HostileRows.page([HostileRows.row("x", "\"n\":\(number)")])))
            }
            + [
                HostileCase(
                    .numbers, "2^64 in the answer to a change", .insert,
                    .applied(with: ["18446744073709551616"]),
                    answer: always([.json(201, HostileRows.row("new", text: "mine", "\"n\":18446744073709551616"))]))
            ]
    }
}
