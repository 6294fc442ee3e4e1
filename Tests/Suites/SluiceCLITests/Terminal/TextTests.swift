import Sluice
import Testing

@testable import SluiceCLI

@Suite struct TextTests {
    @Test("columns line up, the id comes first, and what is absent is empty")
    func table() {
        let records: [JSON] = [["title": "A", "id": "1"], ["id": "22", "year": 1990, "title": .null]]
        #expect(
            TextTable(records: records).lines() == ["id  title  year", "1   A", "22  null   1990"])
    }

    @Test("a wide cell is cut where a width is given")
    func cut() {
        #expect(TextTable(head: ["a"], rows: [["0123456789"]]).lines(widest: 5) == ["a", "0123…"])
    }

    @Test("control characters of a server cannot move the cursor")
    func plain() {
        #expect(Plain.line("a\u{1B}[2Jb\nc\u{9B}d") == "a [2Jb c d")
    }

    @Test("thousands stand apart", arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1234567, "-1,234,567")])
    func count(_ number: Int, _ text: String) {
        #expect(Plain.count(number) == text)
    }
}
