internal import HTTPTypes
internal import SluiceBase
package import SluiceWire

extension Dialect {
    /// The columns that the wire gives a meaning, as a push needs them.
    package var pushColumns: PushColumns {
        PushColumns(
            id: columns.id, version: columns.version, deleted: columns.deleted, updatedAt: columns.updatedAt,
            createdAt: createdAtColumn,
            system: Set([columns.version, columns.updatedAt, columns.deleted] + (createdAtColumn.map { [$0] } ?? [])),
            replaces: !patchesUpdates, serverSet: serverSet, takesNoContent: !keepsDeleted)
    }

    /// An answer reduced to what decides about an operation. Only a record that carries a version can be evidence: a
    /// server may echo what it was sent. A version that could not go back in a header field is not valid, and a part of a
    /// record (206), which was not asked for, is no record; nor is one that nests deeper than an operation could keep.
    func pushAnswer(_ response: Response) -> PushAnswer {
        var record: JSON?
        let body = try? response.body.json
        if response.status != 206, let body, body[columns.id]?.string != nil,
            let version = body[columns.version]?.string, ETag.isVersion(version),
            StoreRules.isShallow(body, RecordRules.maximumDepth)
        {
            record = body
        }
        // OASIS Repeatable Requests 1.0, section 3: "rejected" goes with a refusal that has nothing else after it.
        let result = HTTPField.Name("Repeatability-Result").flatMap { response.head.headerFields[$0] }
        var answer = PushAnswer(
            status: response.status, record: record, message: ServerMessage.text(of: response),
            isIDRefused: response.status >= 400 && result?.lowercased() == "rejected",
            isEmpty: response.body.isEmpty)
        answer.isWebPage = ServerMessage.isWebPage(response)
        answer.remembersRequests = result?.lowercased() == "accepted"
        return answer
    }
}
