extension PushWorker {
    /// What sending an undelete begins with.
    enum UndeletePreparation {
        /// The operation, with the record to send.
        case item(PushItem)
        /// Nothing has to be sent: this is as good as an answer.
        case answer(PushAnswer)
    }

    /// On a wire that restores a record by PUT, reads it first: the device does not keep what it deleted, a PUT
    /// replaces all that the server has, and the version makes it the condition that nobody restores it meanwhile.
    func prepareUndelete(_ item: PushItem) async throws -> UndeletePreparation {
        guard item.operation.kind == .undelete, client.dialect.undelete == .put else { return .item(item) }
        let (table, id) = (item.operation.table, item.operation.recordID)
        guard let record = try await readBack(table, id) else {
            return .answer(PushAnswer(status: 404, message: "the server has no such record, not even a deleted one"))
        }
        let columns = client.dialect.pushColumns
        if !columns.isDeleted(record), record[columns.version]?.string != nil {
            return .answer(PushAnswer(status: 200, record: record))
        }
        var item = item
        item.local = record
        item.base = record
        return .item(item)
    }
}
