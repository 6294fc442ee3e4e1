internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

extension Dialect {
    /// Reduces an answer to the facts that decide about an operation. Only a record with a version can be evidence,
    /// since a server may echo the request. A version that does not fit in a header field is not valid. A partial
    /// record (206) is ignored, because none was requested, and so is a record too deep for an operation.
    func pushAnswer(_ response: SyncResponse) -> PushAnswer {
        var record: JSON?
        let body = try? response.body.json
        if response.status != 206, let body, body[columns.id]?.string != nil,
            let version = body[columns.version]?.string, ETag.isVersion(version),
            StoreRules.isShallow(body, RecordRules.maximumDepth)
        {
            record = body
        }
        // The status of a failure (500) is restored for judging it: the creation may have been done after all. Only an
        // adapter says so, and no server.
        let own = adapter == nil ? nil : AnswerStatus.ownStatus.flatMap { response.head.headerFields[$0] }
        let status = response.status == 409 && own == "500" ? 500 : response.status
        if response.status >= 500 { record = nil }
        // OASIS Repeatable Requests 1.0, section 3: "rejected" marks a final refusal.
        let result = HTTPField.Name("Repeatability-Result").flatMap { response.head.headerFields[$0] }
        var answer = PushAnswer(
            status: status, record: record, message: ServerMessage.text(of: response),
            isIDRefused: response.status >= 400 && result?.lowercased() == "rejected",
            isEmpty: response.body.isEmpty)
        // RFC 9110, section 8.8.3: of the record as the request has left it.
        if answer.isEmpty, 200..<300 ~= status {
            answer.tag = response.head.headerFields[.eTag].flatMap { ETag($0).version }
        }
        answer.isWebPage = ServerMessage.isWebPage(response)
        answer.remembersRequests = result?.lowercased() == "accepted"
        // RFC 9110, section 10.2.2: the place of a created record, whose last segment is the id on the tables wires.
        if [201, 204].contains(response.status), adapter == nil {
            answer.created = response.head.headerFields[.location].flatMap(RecordID.init(location:))
        }
        return answer
    }
}

extension RecordID {
    /// Makes the id from the last segment of a location's path; nil if there is none.
    fileprivate init?(location: String) {
        let path = location.prefix { $0 != "?" && $0 != "#" }
        guard let last = path.split(separator: "/").last else { return nil }
        self.init(PercentEncoding.decoded(last))
    }
}
