internal import SluiceBase

/// Keeps the credentials of requests out of errors.
///
/// The filter is at both ends of the chain. At the inner end it sees the credentials that filters have set, and the
/// answer before any other filter. At the outer end it sees the filters' own errors and answers.
struct HideCredentials: Filter {
    let book: CredentialBook
    /// The wire's name of the id, by which a record is recognised in an answer.
    let idColumn: PropertyName
    /// Whether the filter is at the inner end, where all filters have set their credentials.
    let isInnermost: Bool

    func handle(_ request: Request, next: Next) async throws -> Response {
        book.note(request.head)
        var request = request
        request.context.credentials = isInnermost ? nil : book
        do {
            let response = try await next(request)
            // Other requests may have pushed this one's credentials out in between.
            book.note(request.head)
            return book.hiding(response, to: request.context, idColumn: idColumn)
        } catch let error as SluiceError {
            throw book.hiding(error)
        }
    }
}
