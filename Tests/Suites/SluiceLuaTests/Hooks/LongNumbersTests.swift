import SluiceCore
import Testing

@testable import SluiceLua

@Suite("Numbers that scripts read as text")
struct LongNumbersTests {
    private func restored(_ value: String, from original: String) throws -> JSON {
        let original = try JSON(parsing: original)
        return LongNumbers(of: [original]).restored(try JSON(parsing: value), from: [original])
    }

    @Test(
        "are numbers again where they are written back",
        arguments: [
            (#"{"a":"1.10","b":[{"c":"18446744073709551616"}]}"#, #"{"a":1.10,"b":[{"c":18446744073709551616}]}"#),
            (#"{"new":"1.10"}"#, #"{"old":1.10}"#),
        ])
    func numbers(value: String, original: String) throws {
        let expected = value.replacing(#""1.10""#, with: "1.10").replacing(
            #""18446744073709551616""#, with: "18446744073709551616")
        #expect(try restored(value, from: original) == JSON(parsing: expected))
    }

    @Test(
        "stay texts where they were texts, or may have been, and where another was written",
        arguments: [
            (#"{"a":"1.10"}"#, #"{"a":"1.10","b":1.10}"#), (#"{"c":"1.10"}"#, #"{"a":"1.10","b":1.10}"#),
            (#"{"a":"1.20"}"#, #"{"a":1.10}"#), (#"{"a":"1.5"}"#, #"{"a":1.5}"#),
        ])
    func texts(value: String, original: String) throws {
        #expect(try restored(value, from: original) == JSON(parsing: value))
    }
}
