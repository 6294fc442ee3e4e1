internal import HTTPTypes
package import SluiceBase

extension CredentialBook {
    /// An answer of which no error can be made that holds a credential.
    ///
    /// Records are data and stay as they are, and so does the answer to a list, a lookup or a custom call that the
    /// server carried out. Of every other answer the header fields that hold a credential are left out, and the body's
    /// texts lose it. A refusal whose record holds one is left without a body: a record with parts taken out is no record of the server,
    /// and the engine reads the real one from the list.
    func hiding(_ response: Response, to context: RequestContext, idColumn: PropertyName) -> Response {
        var response = response
        response.credentials = self
        let isCarriedOut = (200..<300).contains(response.status)
        if isCarriedOut, [.read, .custom].contains(context.action) || response.body.isEmpty { return response }
        let search = search
        if !isCarriedOut {
            let fields = response.head.headerFields.filter { search.hiding($0.value) == nil }
            if fields.count < response.head.headerFields.count {
                response.head.headerFields = HTTPFields(fields)
            }
            if let reason = search.hiding(response.head.status.reasonPhrase) {
                response.head.status = .init(code: response.status, reasonPhrase: reason)
            }
        }
        guard let hidden = search.hiding(response.body.bytes) else { return response }
        let isRecord = (try? response.body.json)?[idColumn] != nil
        if isRecord && isCarriedOut { return response }
        response.body =
            isRecord ? .empty : Body(bytes: hidden, maximumValues: response.body.maximumValues)
        return response
    }

    /// The body without credentials.
    package func hiding(_ body: Body) -> Body {
        search.hiding(body.bytes).map { Body(bytes: $0, maximumValues: body.maximumValues) } ?? body
    }

    /// The error without credentials, in its message and in its causes.
    package func hiding(_ error: SluiceError) -> SluiceError {
        let search = search
        var error = error
        if let message = search.hiding(error.message) { error.message = message }
        if let record = error.serverRecord, search.hiding(record.description) != nil { error.serverRecord = nil }
        error.cause = error.cause.map { hiding($0, search) }
        return error
    }

    private func hiding(_ cause: any Error, _ search: CredentialSearch) -> any Error {
        if let cause = cause as? SluiceError { return hiding(cause) }
        let texts = ["\(cause)", String(reflecting: cause)]
        guard texts.contains(where: { search.hiding($0) != nil }) else { return cause }
        let text = search.hiding(texts[0]) ?? "\(type(of: cause))"
        return cause is RequestNotSent ? RequestNotSent(text) : HiddenCause(description: text)
    }
}

/// Stands for an error whose text held a credential.
struct HiddenCause: Error, CustomStringConvertible {
    let description: String
}
