import SluiceCore
import SluiceTestSupport
import Testing

@Suite("Reading and printing JSON")
struct JSONParsingTests {
    @Test(
        "valid text is printed back as it came",
        arguments: [
            "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
            "12345678901234567.89", "1.10", "1e5", "1E+5", "-0", "-0.0", "0.1", "100.0", "5e-324", "1e400", "\"\"",
            #""\u0000a\u001f""#, #""é😀\"\\\n""#, "[]", "{}", "[[],{}]", #"{"b":1,"a":{"":2},"":{"":""}}"#,
            #"{"1":"1.10"}"#, #"{"":"1.10"}"#,
        ])
    func printedBack(_ text: String) throws {
        #expect(try JSON(parsing: text).description == text)
    }

    @Test("escapes stand for what they say, as long as the string may be", arguments: 0..<20)
    func escapes(_ padding: Int) throws {
        let pad = String(repeating: "x", count: padding)
        let cases = [
            (#"\" \\ \/ \b \f \n \r \t"#, "\" \\ / \u{8} \u{c} \n \r \t"), (#"\u00e9\u00E9"#, "éé"),
            (#"\ud83d\ude00"#, "😀"), (#"\uD800\uDC00"#, "\u{10000}"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"),
            (#"\u0000"#, "\u{0}"), ("\u{7f}é€😀", "\u{7f}é€😀"), (#"\uFFFF"#, "\u{FFFF}"),
        ]
        for (text, meaning) in cases {
            #expect(try JSON(parsing: "\"\(pad)\(text)\(pad)\"").string == pad + meaning + pad)
        }
    }

    @Test(
        "text that is not JSON is refused with its place",
        arguments: [
            ("", 1, 1, 0), (" \n ", 2, 2, 3), ("nul", 1, 1, 0), ("[1,]", 1, 4, 3), ("{\"a\":1,}", 1, 8, 7),
            ("{a:1}", 1, 2, 1), ("[1 2]", 1, 4, 3), ("1 2", 1, 3, 2), ("01", 1, 1, 0), ("-", 1, 2, 1), ("1.", 1, 3, 2),
            ("1e", 1, 3, 2), (".5", 1, 1, 0), ("+1", 1, 1, 0), ("\"\t\"", 1, 2, 1), (#""\x""#, 1, 2, 1),
            (#""\u12g4""#, 1, 2, 1), (#""\ud800""#, 1, 2, 1), (#""\ud800\u0041""#, 1, 2, 1), (#""\udc00""#, 1, 2, 1),
            ("\"abc", 1, 5, 4), ("[\n \"é\", x]", 2, 7, 9), ("{\"a\":1,\n\"a\":2}", 2, 1, 8),
            (#"{"a":1,"\u0061":2}"#, 1, 8, 7), (#"{"\u0000":1}"#, 1, 3, 2), (#"{"a\u0000":1}"#, 1, 4, 3),
            ("[1", 1, 3, 2), ("{", 1, 2, 1), ("{\"a\"", 1, 5, 4), ("{\"a\":", 1, 6, 5), ("\u{feff}1", 1, 1, 0),
        ])
    func refused(_ text: String, _ line: Int, _ column: Int, _ offset: Int) {
        let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: text) }
        #expect(error?.line == line)
        #expect(error?.column == column)
        #expect(error?.offset == offset)
    }

    @Test(
        "invalid UTF-8 is refused",
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x9F, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82],
            [0xF0, 0x8F, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: [0x22] + bytes + [0x22]) }
        #expect(error?.offset == 1)
        #expect(throws: JSON.ParseError.self) { try JSON(parsing: Array("{\"".utf8) + bytes + Array("\":1}".utf8)) }
    }

    @Test("64 levels are read and 65 refused")
    func depth() throws {
        func nested(_ count: Int) -> String {
            String(repeating: "[{\"a\":", count: count / 2) + (count % 2 == 1 ? "[]" : "0")
                + String(repeating: "}]", count: count / 2)
        }
        #expect(try JSON(parsing: nested(64)).description == nested(64))
        let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: nested(65)) }
        #expect(error?.offset == 32 * 6)
        #expect(throws: JSON.ParseError.self) { try JSON(parsing: String(repeating: "[", count: 100_000)) }
    }

    @Test("a repeated name is found in an object of any length", arguments: [1, 2, 23, 24, 25, 26, 100, 1000])
    func repeatedNames(_ count: Int) throws {
        let names = (0..<count).map { "\"n\($0)\":\($0)" }
        #expect(try JSON(parsing: "{\(names.joined(separator: ","))}").count == count)
        for repeated in [0, count / 2, count - 1] {
            for spelling in ["n\(repeated)", "\\u006e\(repeated)"] {
                let text = "{\((names + ["\"\(spelling)\":[{}]"]).joined(separator: ","))}"
                let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: text) }
                #expect(error?.reason == "repeated member name \"n\(repeated)\"")
            }
        }
    }

    @Test("names that look alike but differ in code points are two")
    func canonicalEquivalence() throws {
        let names = (0..<30).map { "\"\($0)\":0," }.joined()
        for padding in ["", names] {
            let object = try JSON(parsing: "{\(padding)\"\u{e9}\":1,\"e\u{301}\":2}")
            #expect(object["\u{e9}"] == 1)
            #expect(object["e\u{301}"] == 2)
        }
        #expect(JSON("\u{e9}") != JSON("e\u{301}"))
    }
}
