import CJansson
import SluiceCore
import Testing

@Suite("JSON beside jansson's own reader")
struct JSONJanssonTests {
    @Test(
        "both readers accept the same broken texts, except for numbers that jansson has no type for",
        arguments: 1...10 as ClosedRange<UInt64>)
    func agreement(_ seed: UInt64) {
        var generator = JSONGenerator(seed: seed &+ 1000)
        for _ in 0..<200 {
            let whole = generator.value(depth: 0).bytes()
            for text in [whole, generator.mutated(whole)] {
                let ours = (try? JSON(parsing: text)) != nil
                let theirs = Self.janssonError(text)
                switch theirs {
                case nil: #expect(ours, "\(String(decoding: text, as: UTF8.self))")
                case json_error_numeric_overflow: break
                default: #expect(!ours, "\(String(decoding: text, as: UTF8.self))")
                }
            }
        }
    }

    /// Why jansson refuses a text, or nil if it does not.
    private static func janssonError(_ text: [UInt8]) -> json_error_code? {
        var error = json_error_t()
        let flags = 0x1 | 0x4 | 0x10  // JSON_REJECT_DUPLICATES, JSON_DECODE_ANY, JSON_ALLOW_NUL
        let value = text.withUnsafeBytes {
            json_loadb($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, flags, &error)
        }
        if let value {
            sluice_json_release(value)
            return nil
        }
        // The code is the last byte of the message.
        return withUnsafeBytes(of: &error.text) { $0.last.map { json_error_code(UInt32($0)) } }
    }
}
