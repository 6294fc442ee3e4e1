internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// The answers in a multipart body: parts of `application/http`, and change sets of them.
enum MultipartAnswers {
    struct Part {
        /// The answers with their `Content-ID`, which not every service repeats.
        var answers: [(id: String?, response: SyncResponse)]
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

    private static func answer(
        _ part: MultipartReader.Part
    ) throws(MultipartReader.Refusal) -> (id: String?, response: SyncResponse) {
        let message = try MultipartReader.message(part)
        let words = message.line.split { $0.isWhitespace }
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]), (200...599).contains(status)
        else { throw MultipartReader.Refusal(reason: "has a part that begins with no status line") }
        if message.isCutOff { throw MultipartReader.Refusal(reason: "has a part that was cut off") }
        var fields = HTTPFields()
        for (name, value) in message.fields where HTTPField.isValidValue(value) {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let response = SyncResponse(
            HTTPResponse(status: .init(code: status), headerFields: fields), body: MessageBody(bytes: message.body))
        return (message.id, response)
    }
}
