internal import FoundationXML
public import SluiceBase

#if canImport(FoundationEssentials)
    internal import Foundation
#endif

extension EdmModel {
    /// The largest document that is read, in bytes.
    static let mostBytes = 64 << 20

    /// Reads a `$metadata` document in XML or JSON.
    ///
    /// A document type declaration is refused, and with it all entities of its own.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for what is no such document, with the reason and the line, and of
    ///   code `tooLarge` beyond 64 MiB.
    public init(document bytes: [UInt8]) throws(SluiceError) {
        guard bytes.count <= Self.mostBytes else {
            throw SluiceError(.tooLarge, "the metadata is larger than \(Self.mostBytes) bytes")
        }
        if bytes.first(where: { !" \t\r\n\u{FEFF}".utf8.contains($0) }) == UInt8(ascii: "{") {
            self = try MetadataJSON.model(of: bytes)
        } else {
            self = try MetadataXML.model(of: bytes)
        }
    }
}

/// Reads EDMX and CSDL XML, element by element, with the system's parser.
enum MetadataXML {
    private static let deepest = 64

    static func model(of bytes: [UInt8]) throws(SluiceError) -> EdmModel {
        // In any encoding but that of ASCII's letters the next line could not see what it looks for.
        guard !bytes.prefix(64).contains(0), !bytes.starts(with: [0xFE, 0xFF]), !bytes.starts(with: [0xFF, 0xFE]) else {
            throw SluiceError(.brokenProtocol, "the metadata is not in UTF-8")
        }
        if declaresType(bytes) {
            throw SluiceError(.brokenProtocol, "the metadata has a document type declaration, which is not read")
        }
        let delegate = Delegate()
        guard let parser = ForeignXML.parser(bytes) else {
            throw SluiceError(.brokenProtocol, "the metadata is not in UTF-8")
        }
        parser.delegate = delegate
        let isWhole = parser.parse()
        if let problem = delegate.problem { throw SluiceError(.brokenProtocol, "the metadata \(problem)") }
        guard isWhole else {
            throw SluiceError(.brokenProtocol, "the metadata is no XML: see line \(parser.lineNumber)")
        }
        // The parser takes the beginning of a document for one.
        guard delegate.isWhole else {
            throw SluiceError(.brokenProtocol, "the metadata was cut short: see line \(parser.lineNumber)")
        }
        guard let model = delegate.builder.finished() else {
            throw SluiceError(.brokenProtocol, "the service's answer is XML, and no description of OData")
        }
        return model
    }

    /// Whether `<!DOCTYPE` or `<!ENTITY` stands anywhere.
    private static func declaresType(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            var place = 0
            while place + 2 < buffer.count {
                if buffer[place] == 0x3C, buffer[place + 1] == 0x21,
                    buffer[place + 2] == UInt8(ascii: "D") || buffer[place + 2] == UInt8(ascii: "E")
                {
                    return true
                }
                place += 1
            }
            return false
        }
    }

    /// Passes what the parser finds to the builder, and ends the reading at what no such document holds.
    private final class Delegate: NSObject, XMLParserDelegate {
        var builder = MetadataBuilder()
        private(set) var problem: String?
        private var depth = 0
        /// Whether the outermost element has come to its end.
        private(set) var isWhole = false

        private func stop(_ parser: XMLParser, _ problem: String) {
            if self.problem == nil { self.problem = problem }
            parser.abortParsing()
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            depth += 1
            if depth > deepest { return stop(parser, "nests deeper than \(deepest) elements") }
            builder.begin(Self.local(name), attributes)
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            depth -= 1
            if depth == 0 { isWhole = true }
            builder.end(Self.local(name))
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) { builder.text(text) }

        func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
            stop(parser, "declares entities, which are not read")
        }

        func parser(
            _ parser: XMLParser, foundExternalEntityDeclarationWithName name: String, publicID: String?,
            systemID: String?
        ) {
            stop(parser, "declares entities, which are not read")
        }

        /// The name without its prefix.
        private static func local(_ name: String) -> String {
            name.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(name[name.utf8.index(after: $0)...]) } ?? name
        }
    }
}
