internal import Foundation
internal import FoundationXML

/// The only reader of XML that a service sent.
enum ForeignXML {
    /// Returns a parser that resolves no entities. Nil for bytes that are no UTF-8: the system's parser ends the
    /// process at an invalid name. Nil also for text that declares an encoding in which ASCII's signs may stand for
    /// others.
    ///
    /// It reads in pieces: of a text in one piece the parser accepts at most 10,000,000 bytes.
    static func parser(_ bytes: [UInt8]) -> XMLParser? {
        guard String(validating: bytes, as: UTF8.self) != nil, keepsASCII(bytes) else { return nil }
        let parser = XMLParser(stream: InputStream(data: Data(completed(bytes))))
        parser.shouldResolveExternalEntities = false
        return parser
    }

    /// Returns the text with content in each processing instruction: the system's parser ends the process at one that
    /// has only its name.
    private static func completed(_ bytes: [UInt8]) -> [UInt8] {
        func isPair(_ index: Int, _ first: UInt8, _ second: UInt8) -> Bool {
            index + 1 < bytes.count && bytes[index] == first && bytes[index + 1] == second
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let (mark, open, close) = (UInt8(ascii: "?"), UInt8(ascii: "<"), UInt8(ascii: ">"))
        var output: [UInt8] = []
        var (start, index) = (0, 0)
        // The end of the last examined instruction, and the last blank before its last sign.
        var (end, blank) = (-1, -1)
        while index < bytes.count {
            guard isPair(index, open, mark) else {
                index += 1
                continue
            }
            let name = index + 2
            // An apparent instruction may begin within another's text; then it has the same end.
            index = name
            if name > end {
                end = name
                while end < bytes.count, !isPair(end, mark, close) { end += 1 }
                guard end < bytes.count else { break }
                blank = end - 1
                while blank >= name, isBlank(bytes[blank]) { blank -= 1 }
                while blank >= name, !isBlank(bytes[blank]) { blank -= 1 }
            }
            guard blank < name, start < end else { continue }
            output += bytes[start..<end]
            output += Array(" _".utf8)
            start = end
        }
        return start == 0 ? bytes : output + bytes[start...]
    }

    /// Whether the declared encoding of the text, if there is one, leaves ASCII as it is.
    private static func keepsASCII(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(200), as: UTF8.self).prefix { $0 != ">" }
        guard let name = head.firstRange(of: "encoding") else { return true }
        let rest = head[name.upperBound...].drop { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "=" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return true }
        let encoding = rest.dropFirst().prefix { $0 != quote }.lowercased()
        return ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "latin1", "windows-125"].contains {
            encoding.hasPrefix($0)
        }
    }
}
