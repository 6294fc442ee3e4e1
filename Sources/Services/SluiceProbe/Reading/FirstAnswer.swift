internal import SluiceBase
internal import SluiceOData
internal import SluiceStores
internal import SluiceWire

/// The first answer of a server: without one there is nothing to look at.
enum FirstAnswer {
    /// Returns the fault that the error shows; nil for one that is about the way to the server or the access to it.
    static func code(of error: SluiceError, knowsModel: Bool) -> ProbeFinding.Code? {
        switch error.code {
        case .brokenProtocol where error.message.contains(ServerMessage.webPage): return .webPage
        case .brokenProtocol where error.status.map { 300..<400 ~= $0 } ?? false: return .redirects
        case .brokenProtocol, .tooLarge: return knowsModel ? .brokenAnswers : .metadataUnread
        case .serverFailure where error.status.map(AnswerStatus.isPassing) ?? false: return nil
        case .serverFailure: return error.status == 200 ? .errorBesideRows : .failing
        case .rejected, .unsupported: return knowsModel ? .orderIgnored : .metadataUnread
        case .invalidArgument where !knowsModel: return .metadataUnread
        default: return nil
        }
    }
}

extension ProbeSession {
    /// Returns the description of an OData service; nil where there is none to be read.
    func model(_ report: inout ProbeReport) async throws -> EdmModel? {
        guard isService else { return nil }
        let model: EdmModel
        do {
            model = try await client.metadata()
        } catch {
            try check(error)
            report.add("description", fact: "the service's $metadata cannot be read")
            return nil
        }
        report.add("description", fact: "the service describes \(model.sets.count.counted("set"))")
        return model
    }

    /// Returns the first page of the table; nil after a fault with which nothing more can be seen.
    ///
    /// - Throws: an error about the way to the server, the access to it, or the name of the table.
    func first(_ report: inout ProbeReport) async throws -> ProbePage? {
        let ordered = try await list { $0.includesDeleted = false }
        guard case .failure(let error) = ordered else { return try ordered.get() }
        guard let code = FirstAnswer.code(of: error, knowsModel: set != nil || !isService) else { throw error }
        report.add(code, error.message)
        return nil
    }
}
