import SluiceCore
import SluiceTesting
import Testing

@Suite("Numbers of JSON")
struct JSONNumberTests {
    @Test(
        "a decimal is the double nearest to it, and prints as it was written", arguments: 1...4 as ClosedRange<UInt64>)
    func decimals(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let whole = UInt64.random(in: 0...10 << UInt64.random(in: 0...50, using: &random), using: &random)
            let fraction = String(
                UInt64.random(in: 0...10 << UInt64.random(in: 0...50, using: &random), using: &random))
            let zeros = String(repeating: "0", count: Int.random(in: 0...5, using: &random) / 3)
            let text = "\(Bool.random(using: &random) ? "-" : "")\(whole).\(zeros)\(fraction)"
            let number = try #require(JSON.Number(text: text))
            #expect(number.description == text)
            #expect(number.double == Double(text), "\(text)")
        }
    }

    @Test(
        "a number that its double would print otherwise stays text",
        arguments: [
            "1.10", "0.00", "-0.0", "0.50", "1e5", "0e0", "0.00001", "12345678901234567.89", "1.000000000000000000001",
            "100.", "0.1e1", "9007199254740993.5",
        ])
    func textKept(_ text: String) {
        // Some of these are no numbers of JSON at all.
        if let number = JSON.Number(text: text) {
            #expect(number.description == text)
        } else {
            #expect(text.hasSuffix("."))
        }
    }

    @Test(
        "a plain decimal is a double, not a text",
        arguments: [
            ("0.5", 0.5), ("-0.99", -0.99), ("0.1", 0.1), ("1.0", 1), ("100.0", 100), ("-7.25", -7.25),
            ("12345678901234.5", 12_345_678_901_234.5), ("99999999999999.9", 99_999_999_999_999.9),
        ])
    func doubles(_ text: String, _ double: Double) throws {
        let number = try #require(JSON.Number(text: text))
        guard case .double(double) = number.storage else {
            Issue.record("\(text) is \(number.storage)")
            return
        }
    }
}
