internal import SluiceBase

/// Keeps the credentials of requests out of errors.
///
/// The filter stands at both ends of the chain. At the inner end it sees the credentials that filters have set, and the
/// answer before anything else does. At the outer end it sees what filters throw and answer themselves.
struct HideCredentials: Filter {
    let book: CredentialBook
    /// The wire's name of the id, by which an answer is known to be a record.
    let idColumn: PropertyName

    func handle(_ request: Request, next: Next) async throws -> Response {
        book.note(request.head)
        do {
            let response = try await next(request)
            // Others may have come between, more than are remembered.
            book.note(request.head)
            return book.hiding(response, to: request.context, idColumn: idColumn)
        } catch let error as SluiceError {
            throw book.hiding(error)
        }
    }
}
