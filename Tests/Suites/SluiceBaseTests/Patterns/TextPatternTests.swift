import Foundation
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase

@Suite("Patterns")
struct TextPatternTests {
    private func refusal(_ text: String) -> TextPattern.Refusal? {
        do throws(TextPattern.Refusal) {
            _ = try TextPattern(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a pattern is found or not",
        arguments: [
            ("", "", true), ("", "x", true), ("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true),
            ("^abc$", "abc", true), ("^$", "", true), ("^$", "x", false), ("a|b", "xb", true),
            ("^(a|b)+$", "abba", true),
            ("^(a|b)+$", "abca", false), ("^a*$", "", true), ("^a+$", "", false), ("^ab?c$", "ac", true),
            ("^a{3}$", "aaa", true), ("^a{3}$", "aa", false), ("^a{2,}$", "aaaa", true), ("^a{2,3}$", "aaaa", false),
            ("^a{0}$", "", true), ("^.$", "é", true), ("^.$", "\n", false), ("^[a-c]+$", "abc", true),
            ("^[^a-c]+$", "xyz", true), ("^[^a-c]+$", "xbz", false), ("^[-a]+$", "a-", true), ("^[a-]+$", "a-", true),
            ("^[\\]\\[]+$", "[]", true), ("^\\d+\\.\\d+$", "1.25", true), ("^\\w+$", "a_1", true),
            ("^\\w+$", "é", false),
            ("^\\S+$", "a\u{00A0}b", false), ("^[\\d,]+$", "1,2", true), ("^[^\\d]+$", "a1", false),
            ("^\\u00e9$", "é", true), ("^a*?b+?$", "aab", true), ("\\bfoo\\b", "a foo b", true),
            ("\\bfoo\\b", "afoo", false),
            ("\\Boo", "foo", true), ("^\\x41\\f\\v\\0$", "A\u{0C}\u{0B}\0", true), ("^(?:ab)+$", "abab", true),
            ("^(a*)*$", "aaa", true), ("^(|a)+$", "aa", true),
            ("(^a|b$)", "xb", true), ("a^b", "ab", false), ("^\\/\\*$", "/*", true), ("^\\t\\n\\r$", "\t\n\r", true),
            ("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "0188c0de-1234-7abc-8def-0123456789ab", true),
        ])
    func finds(pattern: String, text: String, isFound: Bool) throws {
        #expect(try TextPattern(pattern).matches(text) == isFound)
    }

    @Test(
        "what is outside of the subset is refused, with the reason",
        arguments: [
            ("(a)\\1", "references back"), ("(?=a)", "looking around"), ("(?<!a)", "looking around"),
            ("(?<n>a)", "named groups"), ("(?i)a", "looking around"), ("a*??", "one quantifier after another"),
            ("a++", "one quantifier after another"), ("a{2}{3}", "one quantifier after another"),
            ("*a", "nothing to repeat"), ("a|*", "nothing to repeat"), ("^*", "an anchor cannot be repeated"),
            ("(a", "expected )"), ("a)", "a ) without its ("), ("[a", "expected ]"), ("[]", "an empty class"),
            ("[b-a]", "a range from a lower"), ("[\\d-z]", "a range from"), ("a{", "expected a number of times"),
            ("a{,3}", "expected a number of times"), ("a{3", "expected }"), ("a{3,2}", "is above the second"),
            ("a{1001}", "at most 1000 times"), ("a{999999999999}", "expected }"), ("\\", "ends after a \\"),
            ("[\\b]", "\\b is outside of the subset"), ("\\q", "no escape is \\q"), ("\\p{L}", "\\p is outside"),
            ("\\u12", "four hexadecimal digits"),
            ("\\ud800", "four hexadecimal digits"), ("}", "write \\}"), ("]", "write \\]"), ("[[a]", "write \\["),
        ])
    func refusals(pattern: String, reason: String) {
        #expect(refusal(pattern)?.reason.contains(reason) == true, "\(refusal(pattern)?.reason ?? "taken")")
    }

    @Test(
        "patterns that are large when they are written out are refused at once",
        arguments: [
            "((((a{200}){200}){200}){200}){200}", "(a|b|c){256}", String(repeating: "(", count: 400),
            "(((((((((){99}){99}){99}){99}){99}){99}){99}){99}){99}", String(repeating: "a", count: 1001),
            "((a?){100}){100}",
        ])
    func bombs(pattern: String) {
        let time = processorTime { #expect(refusal(pattern) != nil) }
        #expect(time < .seconds(1))
    }

    @Test(
        "patterns that take others an endless time take the time of the text",
        arguments: ["^(a+)+$", "^(a|a)*$", "^(a*)*b", "^(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*(.*)*x$"])
    func catastrophic(pattern: String) throws {
        let program = try TextPattern(pattern)
        let text = String(repeating: "a", count: 3_000) + "!"
        let time = processorTime { #expect(!program.matches(text)) }
        #expect(time < .seconds(10))
    }

    @Test("random patterns find what Foundation's expressions find", arguments: 1...40)
    func differential(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let pattern = Self.pattern(depth: 3, &random)
            let ours = try TextPattern(pattern)
            let theirs = try NSRegularExpression(pattern: pattern)
            for _ in 0..<20 {
                let length = Int.random(in: 0...8, using: &random)
                let text = String((0..<length).compactMap { _ in "abc1-".randomElement(using: &random) })
                let range = NSRange(location: 0, length: text.utf16.count)
                let expected = theirs.firstMatch(in: text, range: range) != nil
                #expect(ours.matches(text) == expected, "\(pattern) in \(text)")
            }
        }
    }

    private static func pattern(depth: Int, _ random: inout SeededGenerator) -> String {
        let atoms = ["a", "b", "c", ".", "[ab]", "[^a]", "\\d", "\\w", "\\-"]
        let quantifiers = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}"]
        var pattern = ""
        if Int.random(in: 0...5, using: &random) == 0 { pattern += "^" }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            switch Int.random(in: 0...5, using: &random) {
            case 0 where depth > 0: pattern += "(\(Self.pattern(depth: depth - 1, &random)))"
            case 1 where depth > 0:
                pattern +=
                    "(\(Self.pattern(depth: depth - 1, &random))|\(Self.pattern(depth: depth - 1, &random)))"
            default: pattern += atoms.randomElement(using: &random) ?? "a"
            }
            pattern += quantifiers.randomElement(using: &random) ?? ""
        }
        if Int.random(in: 0...5, using: &random) == 0 { pattern += "$" }
        return pattern
    }
}
