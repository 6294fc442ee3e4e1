internal import Foundation
internal import FoundationXML

/// XML that a service sent, and the one way to read it.
enum ForeignXML {
    /// A parser that resolves no entities; nil for bytes that are no UTF-8, for the system's parser ends the process at a
    /// name that is none.
    ///
    /// It reads in pieces: of a text that it is given whole it takes 10,000,000 bytes and no more.
    static func parser(_ bytes: [UInt8]) -> XMLParser? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        let parser = XMLParser(stream: InputStream(data: Data(bytes)))
        parser.shouldResolveExternalEntities = false
        return parser
    }
}
