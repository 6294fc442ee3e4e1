import Testing

@testable import SluiceCLI

@Suite struct ProgressBarTests {
    @Test("a bar shows share, count and rate, and fits the terminal", arguments: [40, 60, 80, 200])
    func bar(width: Int) {
        let text = ProgressBar.text(
            label: "pull movies", done: 50_000, total: 100_000, noun: "row", elapsed: .seconds(2), width: width)
        #expect(text.count < width)
        if width >= 80 {
            #expect(text.contains("[############............]"))
            #expect(text.hasSuffix(" 50%  50,000 of 100,000 rows  25,000/s"))
        }
    }

    @Test("without a total there is a count, and a total that was passed is full")
    func totals() {
        let count = ProgressBar.text(
            label: "pull", done: 1234, total: nil, noun: "row", elapsed: .seconds(1), width: 80)
        #expect(count == "pull  1,234 rows  1,234/s")
        let over = ProgressBar.text(
            label: "pull", done: 300, total: 200, noun: "row", elapsed: .milliseconds(1), width: 80)
        #expect(over.contains("100%"))
    }

    @Test("one is one row, and not one rows")
    func singular() {
        func text(_ done: Int, _ total: Int?) -> String {
            ProgressBar.text(label: "pull", done: done, total: total, noun: "row", elapsed: .milliseconds(1), width: 80)
        }
        #expect(text(1, nil) == "pull  1 row")
        #expect(text(1, 1).hasSuffix("100%  1 of 1 row"))
        #expect(text(0, 2).hasSuffix("  0%  0 of 2 rows"))
    }

    @Test("a terminal too narrow for anything gets nothing longer than it", arguments: 0..<12)
    func narrow(width: Int) {
        let text = ProgressBar.text(
            label: "pull", done: 1, total: 2, noun: "row", elapsed: .seconds(1), width: width)
        #expect(text.count <= max(0, width - 1))
    }
}
