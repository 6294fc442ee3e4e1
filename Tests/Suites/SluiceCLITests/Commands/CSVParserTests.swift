import Sluice
import Testing

@testable import SluiceCLI

@Suite struct CSVParserTests {
    /// The records of a text, read line by line as a file is.
    private func records(_ text: String, longest: Int = 1000, mostFields: Int = 10) throws -> [[String]] {
        try records(Array(text.utf8), longest: longest, mostFields: mostFields)
    }

    private func records(_ bytes: [UInt8], longest: Int = 1000, mostFields: Int = 10) throws -> [[String]] {
        var parser = CSVParser(longest: longest, mostFields: mostFields)
        var all: [[String]] = []
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines {
            if let fields = try parser.take(Array(line)) { all.append(fields.map(\.text)) }
        }
        try parser.finish()
        return all
    }

    private func problem(_ text: String, longest: Int = 1000, mostFields: Int = 10) -> CSVParser.Problem? {
        do {
            _ = try records(text, longest: longest, mostFields: mostFields)
            return nil
        } catch {
            return error as? CSVParser.Problem
        }
    }

    @Test("fields are what stands between commas, spaces and all")
    func fields() throws {
        #expect(try records("a,b,c\n") == [["a", "b", "c"]])
        #expect(try records("a,b\r\nc,d\r\n") == [["a", "b"], ["c", "d"]])
        #expect(try records("a,b\nc,d") == [["a", "b"], ["c", "d"]])
        #expect(try records(" a , b") == [[" a ", " b"]])
        #expect(try records(",\n,,\n") == [["", ""], ["", "", ""]])
        #expect(try records("é,🎬,e\u{301}") == [["é", "🎬", "e\u{301}"]])
    }

    @Test("quotes hold commas, doubled quotes and line breaks as they are")
    func quotes() throws {
        #expect(try records(#""a,b","c ""d"" e""#) == [["a,b", #"c "d" e"#]])
        #expect(try records("\"a\nb\r\n\nc\",d\r\ne,f") == [["a\nb\r\n\nc", "d"], ["e", "f"]])
        #expect(try records(#""""","""#) == [["\"", ""]])
    }

    @Test("an empty field is in quotes or not, and an empty line is no record")
    func empty() throws {
        var parser = CSVParser()
        #expect(try parser.take(Array(#","""#.utf8)) == [.init(text: ""), .init(text: "", isQuoted: true)])
        #expect(try parser.take([]) == nil)
        #expect(try parser.take([UInt8(ascii: "\r")]) == nil)
        #expect(try parser.take(Array(#""""#.utf8)) == [.init(text: "", isQuoted: true)])
        #expect(parser.recordLine == 4)
        #expect(try records("") == [])
        #expect(try records("\n\r\n") == [])
    }

    @Test(
        "what RFC 4180 has no place for is refused with its line",
        arguments: [
            ("a\nb\"c", 2, "quote inside"), ("\"a\" ,b", 1, "after its closing quote"),
            ("\"a\"b", 1, "after its closing quote"), ("a\rb", 1, "carriage return"),
            ("a\r\r\n", 1, "carriage return"),
            ("a\n\0b", 2, "NUL"), ("\"\0\"", 1, "NUL"), ("a\n\"b\nc\n", 2, "never closed"),
            ("1,2,3,4,5,6,7,8,9,10\n,,,,,,,,,,", 2, "more than 10 fields"),
        ])
    func refused(_ text: String, _ line: Int, _ reason: String) throws {
        let found = try #require(problem(text))
        #expect(found.line == line && found.reason.contains(reason), "\(found)")
    }

    @Test("bytes that are not UTF-8 are refused, not repaired")
    func notText() throws {
        let bytes = Array("a\nb,".utf8) + [0xC3, 0x28]
        #expect(throws: CSVParser.Problem(line: 2, reason: "the text is not UTF-8")) { try records(bytes) }
    }

    @Test("a record is no longer than it may be, over all its lines")
    func longest() throws {
        #expect(try records("12345\n\"1\n34\"", longest: 7) == [["12345"], ["1\n34"]])
        #expect(problem("a\n\"1\n345\"", longest: 7)?.line == 2)
        #expect(problem("1234567", longest: 7)?.line == 1)
    }

    @Test("no bytes end the process, and what is read is what a quoted writing of it reads as")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("\"\",,\r\n\na\0é".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...20, using: &generator)).map { _ in alphabet.randomElement() ?? 0 }
            guard let all = try? records(bytes) else { continue }
            let written = all.map { fields in
                fields.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
            }
            #expect(try records(written.joined(separator: "\r\n")) == all, "\(bytes)")
        }
    }
}
