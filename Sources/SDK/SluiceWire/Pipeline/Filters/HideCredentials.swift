internal import SluiceBase

/// Keeps the credentials of requests out of errors.
///
/// The filter is at both ends of the chain. At the inner end it sees the credentials that filters have set, and the
/// answer before any other filter. At the outer end it sees the filters' own errors and answers.
struct HideCredentials: PageFilter {
    let book: CredentialBook
    /// The wire's name of the id, by which a record is recognised in an answer.
    let idColumn: PropertyName
    /// Whether the filter is at the inner end, where all filters have set their credentials.
    let isInnermost: Bool

    func handle(_ page: RequestPage, next: RequestPage.Next) async -> RequestPage.Answers {
        var page = page
        for index in page.requests.indices {
            book.note(page.requests[index].head)
            page.requests[index].context.credentials = isInnermost ? nil : book
        }
        let answers = await next(page)
        // Other requests may have pushed this one's credentials out in between.
        for request in page.requests { book.note(request.head) }
        return zip(answers, page.requests).map { answer, request in
            switch answer {
            case .success(let response):
                .success(book.hiding(response, to: request.context, idColumn: idColumn))
            case .failure(let error as SluiceError): .failure(book.hiding(error))
            case .failure: answer
            }
        }
    }
}
