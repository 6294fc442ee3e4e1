public import SluiceBase

extension SluiceError {
    /// Returns the server's record as a value of a type; nil if the answer held none.
    ///
    /// ```swift
    /// do {
    ///     ada = try await people.update(ada)
    /// } catch let error as SluiceError where error.code == .preconditionFailed {
    ///     guard let theirs = try error.server(as: Person.self) else { throw error }
    ///     ada.version = theirs.version     // mine wins
    ///     ada = try await people.update(ada)
    /// }
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidRecord` if the record does not fit the type.
    public func server<Record: Decodable>(as type: Record.Type) throws(SluiceError) -> Record? {
        guard let serverRecord else { return nil }
        let coder = RecordCoder<Record>(
            table, among: exchange?.properties ?? .all, dialect: exchange?.dialect ?? .azureV2)
        return try coder.decode(serverRecord)
    }

    /// Returns the error with its request and answer.
    func with(_ exchange: Exchange) -> SluiceError {
        var error = exchange.response.credentials?.hiding(self, besides: exchange.dialect.judged) ?? self
        error.exchange = exchange
        return error
    }
}
