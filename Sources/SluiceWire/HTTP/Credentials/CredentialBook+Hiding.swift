internal import HTTPTypes
package import SluiceBase

extension CredentialBook {
    /// An answer of which no error can be made that holds a credential.
    ///
    /// Records are data and stay as they are, also those of refusals, by which conflicts are judged; and so does the
    /// answer to a list, a lookup or a custom call that the server carried out. Of every other answer the header fields
    /// that hold a credential are left out, except those by which the answer is judged, and the body's texts lose it. What
    /// is told of an answer loses all of it: see ``Exchange``.
    func hiding(_ response: Response, to context: RequestContext, idColumn: PropertyName) -> Response {
        var response = response
        response.credentials = self
        let isCarriedOut = (200..<300).contains(response.status)
        if isCarriedOut, [.read, .custom].contains(context.action) || response.body.isEmpty { return response }
        let search = search
        if !isCarriedOut {
            let fields = response.head.headerFields.filter {
                Self.judged.contains($0.name.canonicalName) || search.hiding($0.value) == nil
            }
            if fields.count < response.head.headerFields.count {
                response.head.headerFields = HTTPFields(fields)
            }
            if let reason = search.hiding(response.head.status.reasonPhrase) {
                response.head.status = .init(code: response.status, reasonPhrase: reason)
            }
        }
        guard let hidden = search.hiding(response.body.bytes),
            (try? response.body.json)?[idColumn] == nil
        else { return response }
        response.body = Body(bytes: hidden, maximumValues: response.body.maximumValues)
        return response
    }

    /// The header fields of answers that have a meaning for the protocol.
    private static let judged: Set<String> = [
        "content-encoding", "content-length", "content-type", "date", "etag", "link", "repeatability-result",
        "retry-after", "x-sluice-batch",
    ]

    /// The fields without those that hold a credential.
    func hiding(_ fields: HTTPFields) -> HTTPFields {
        let search = search
        return HTTPFields(fields.filter { search.hiding($0.value) == nil })
    }

    /// The record as it is shown to people: without what was sent under a credential's name. What was sent under
    /// another name may well be the record's own.
    ///
    /// - Parameter columns: the properties that programs judge by, which stay as they are.
    package func hiding(_ record: JSON, besides columns: Set<PropertyName>) -> JSON {
        let search = namedSearch
        func hidden(_ value: JSON) -> JSON {
            switch value.kind {
            case .object:
                return JSON(members: (value.members ?? []).map { (hiddenName($0.name), hidden($0.value)) })
            case .array: return JSON((value.elements ?? []).map(hidden))
            case .null, .bool: return value
            case .number, .string: return search.hiding(value.string ?? value.description).map { JSON($0) } ?? value
            }
        }
        func hiddenName(_ name: PropertyName) -> PropertyName {
            search.hiding(name.text).map { PropertyName($0) } ?? name
        }
        guard search.hiding(Array(record.description.utf8)) != nil else { return record }
        return JSON(
            members: (record.members ?? []).map { name, value in
                columns.contains(name) ? (name, value) : (hiddenName(name), hidden(value))
            })
    }

    /// The body without credentials.
    package func hiding(_ body: Body) -> Body {
        search.hiding(body.bytes).map { Body(bytes: $0, maximumValues: body.maximumValues) } ?? body
    }

    /// The error without credentials, in its message, its record and its causes.
    ///
    /// - Parameter columns: see ``hiding(_:besides:)``.
    package func hiding(_ error: SluiceError, besides columns: Set<PropertyName> = []) -> SluiceError {
        let search = search
        var error = error
        if let message = search.hiding(error.message) { error.message = message }
        error.serverRecord = error.serverRecord.map { hiding($0, besides: columns) }
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
