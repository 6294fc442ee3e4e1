import Foundation
import SluiceTestSupport
import Testing

@testable import SluiceBase

@Suite("Bytes as texts") struct EncodingTests {
    @Test("base64 and hexadecimal digits are Foundation's and the system's, and come back", arguments: 0...66)
    func same(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let text = Data(bytes).base64EncodedString()
        #expect(Base64.text(bytes) == text)
        let address = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        #expect(Base64.addressText(bytes) == address)
        for text in [text, address] {
            #expect(Base64.bytes(text) == bytes)
            #expect(Base64.lenientBytes(text) == bytes)
        }
        let digits = bytes.map { String(format: "%02x", $0) }.joined()
        #expect(Base16.text(bytes) == digits)
        #expect(Base16.bytes(digits) == bytes && Base16.bytes(digits.uppercased()) == bytes)
    }

    @Test("the digits that bytes always have are in every text that holds them", arguments: 2...20)
    func inner(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        for skipped in 0..<3 {
            let around = (0..<skipped + 3).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Data(around[..<skipped] + bytes + around[skipped...]).base64EncodedString()
            let inner = String(decoding: Base64.inner(bytes, after: skipped), as: UTF8.self)
            #expect(!inner.isEmpty && text.contains(inner))
        }
    }

    @Test(
        "what is not base64 is nil; bits that are left over are only for lenient readers",
        arguments: [
            ("A", nil, []), ("QR==", nil, [0x41]), ("QQ=", [0x41], [0x41]), ("QQ===", nil, [0x41]),
            ("Q=Q=", nil, []), ("QQ==QQ==", nil, [0x41]), ("QUJD\n", nil, nil), ("é", nil, nil), ("", [], []),
        ] as [(String, [UInt8]?, [UInt8]?)])
    func refused(text: String, bytes: [UInt8]?, lenient: [UInt8]?) {
        #expect(Base64.bytes(text) == bytes)
        #expect(Base64.lenientBytes(text) == lenient)
    }

    @Test("what is not hexadecimal is nil", arguments: ["a", "0g", "+f", "é0", "0x00", " 00"])
    func notHexadecimal(text: String) { #expect(Base16.bytes(text) == nil) }
}
