internal import FoundationXML
internal import SluiceBase
internal import SluiceWire

#if canImport(FoundationEssentials)
    internal import Foundation
#endif

/// A refusal that ends a whole operation and answers all of it: the service is unavailable, requires a login, or asks
/// to wait. The waiting caller tries again by its own rules.
struct ServiceRefusal: Error {
    let response: SyncResponse

    /// Nil for an answer about the requested content.
    ///
    /// - Parameter resource: the request's other target than rows, for readers of the refusal.
    init?(_ response: SyncResponse, to resource: String? = nil) {
        guard response.status == 403 || AnswerStatus.isPassing(response.status) || response.status >= 500 else {
            return nil
        }
        var response = response
        if let resource {
            response.body = MessageBody(json: ["error": JSON("\(resource): \(ServerMessage.text(of: response))")])
        }
        self.response = response
    }
}

/// A service's error message, in JSON or XML, as one text (OData v2, JSON Format, section 7; OData JSON Format 4.01,
/// section 21; SAP's `innererror.errordetails`).
enum ServiceError {
    /// Larger bodies in bytes hold no message worth reading.
    private static let longest = 1 << 16
    /// The largest number of reported details.
    private static let mostDetails = 20

    /// Returns the body of a refusal in the form that the client reads, `{"error": …, "code": …}`; nil if it has no
    /// message.
    static func document(_ body: MessageBody) -> JSON? {
        let bytes = body.bytes
        guard !bytes.isEmpty, bytes.count <= longest else { return nil }
        if let json = try? body.json {
            guard let error = error(in: json) else { return nil }
            return document(code: error["code"]?.string, texts: texts(error))
        }
        guard bytes.first(where: { !" \t\r\n\u{FEFF}".utf8.contains($0) }) == UInt8(ascii: "<") else { return nil }
        let reader = XMLMessages()
        guard let parser = ForeignXML.parser(bytes) else { return nil }
        parser.delegate = reader
        _ = parser.parse()
        return reader.isError ? document(code: reader.code, texts: reader.texts) : nil
    }

    private static func error(in document: JSON) -> JSON? { document["error"] ?? document["odata.error"] }

    /// Returns the text of the error in a document; nil if there is none. A service may send the head of an answer
    /// before its rows are read: a later error then stands beside them (OData JSON Format 4.01, section 21).
    static func said(in document: JSON) -> String? {
        guard let error = error(in: document), !error.isNull, error.bool != false else { return nil }
        let texts = error.string.map { [$0] } ?? texts(error)
        return texts.isEmpty ? "an error without a text" : texts.joined(separator: "; ")
    }

    /// Returns the error of an answer that began with success.
    static func beside(_ said: String, of table: String) -> SluiceError {
        SluiceError(
            .serverFailure, "the service's answer has an error beside its content, which may be incomplete: \(said)",
            table: table, status: 200)
    }

    private static func texts(_ error: JSON) -> [String] {
        func text(_ value: JSON?) -> String? { value?.string ?? value?["value"]?.string }
        var texts = [text(error["message"])]
        let lists = [error["details"], error["innererror"]?["errordetails"], error["innererror"]?["details"]]
        for details in lists.compactMap({ $0?.elements }) {
            texts += details.prefix(mostDetails).map { text($0["message"]) }
        }
        if texts.compactMap({ $0 }).isEmpty { texts.append(text(error["innererror"]?["message"])) }
        return texts.compactMap { $0 }.filter { !$0.isEmpty }
    }

    private static func document(code: String?, texts: [String]) -> JSON? {
        var said: [String] = []
        for text in texts where !said.contains(text) { said.append(text) }
        let code = code.flatMap { $0.isEmpty ? nil : $0 }
        guard !said.isEmpty || code != nil else { return nil }
        var document: JSON = ["error": JSON(said.isEmpty ? code ?? "" : said.joined(separator: "; "))]
        if let code { document["code"] = JSON(code) }
        return document
    }
}

/// Collects `code` and `message` of `<error>`, and the messages of its details.
private final class XMLMessages: NSObject, XMLParserDelegate {
    private(set) var isError = false
    private(set) var code: String?
    private(set) var texts: [String] = []
    private var element = ""
    private var text = ""

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        element = String(name.split(separator: ":").last ?? "")
        if element == "error" { isError = true }
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { if text.utf8.count < 4096 { text += string } }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        let name = name.split(separator: ":").last ?? ""
        if name == "message", texts.count <= 20, !text.isEmpty { texts.append(text) }
        if name == "code", code == nil { code = text }
        text = ""
    }

    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
        parser.abortParsing()
    }
}
