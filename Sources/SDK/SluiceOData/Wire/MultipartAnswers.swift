internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// The answers in a multipart body: parts of `application/http`, and change sets of them.
enum MultipartAnswers {
    struct Part {
        /// The answers with their `Content-ID`, which not every service repeats.
        var answers: [(id: String?, response: Response)]
        /// Whether they stand in a body of their own, like those of a change set.
        var isSet: Bool
    }

    /// Returns the parts, in their order.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol`.
    static func read(_ body: [UInt8], boundary: String) throws(SluiceError) -> [Part] {
        do throws(MultipartReader.Refusal) {
            return try MultipartReader.parts(body[...], boundary: boundary)
                .map { part throws(MultipartReader.Refusal) in
                    guard let inner = MultipartReader.boundary(part.fields["content-type"]) else {
                        return Part(answers: [try answer(part)], isSet: false)
                    }
                    let changes = try MultipartReader.parts(part.body, boundary: inner)
                    return Part(
                        answers: try changes.map { change throws(MultipartReader.Refusal) in try answer(change) },
                        isSet: true)
                }
        } catch {
            throw SluiceError(.brokenProtocol, "the service's answer to a batch cannot be read: \(error)")
        }
    }

    /// Reads a status line, header fields and a body (RFC 9112, section 2.1).
    private static func answer(
        _ part: MultipartReader.Part
    ) throws(MultipartReader.Refusal) -> (id: String?, response: Response) {
        // Some services send an additional empty line before it.
        let bytes = part.body.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let words = String(decoding: bytes[..<end], as: UTF8.self).split { $0.isWhitespace }
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), (200...599).contains(status)
        else { throw MultipartReader.Refusal(reason: "has a part that begins with no status line") }
        let inner = try MultipartReader.part(bytes[min(end + 1, bytes.endIndex)...])
        var fields = HTTPFields()
        for (name, value) in inner.fields where HTTPField.isValidValue(value) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        var body = inner.body
        if let length = inner.fields["content-length"].flatMap({ Int($0) }), length >= 0 {
            guard length <= body.count else { throw MultipartReader.Refusal(reason: "has a part that was cut off") }
            body = body.prefix(length)
        }
        let response = Response(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: Body(bytes: Array(body)))
        return (part.fields["content-id"] ?? inner.fields["content-id"], response)
    }
}
