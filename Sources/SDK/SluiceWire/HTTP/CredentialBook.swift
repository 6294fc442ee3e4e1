package import HTTPTypes
package import SluiceBase
internal import Synchronization

/// Remembers the credentials of a client's requests, and removes them from texts of the server, filters and
/// transports.
///
/// All requests of a client share one book: a server may repeat the token of an earlier request, or of another part of
/// a batch.
package final class CredentialBook: Sendable {
    /// The number of credentials that are remembered, the newest, and of values that may be some.
    private static let most = 32

    private struct State {
        /// The credentials, in the order of their last send.
        var credentials: [Credential] = []
        /// The searches for all and for named credentials; nil after a change.
        var search: SecretSearch?
        var namedSearch: SecretSearch?

        mutating func changed() { (search, namedSearch) = (nil, nil) }
    }

    private let state = Mutex(State())

    package init() {}

    /// Remembers a request's credentials: the values of header fields, of query parameters with a credential's name,
    /// and the part before the `@` of the authority.
    package func note(_ request: HTTPRequest) {
        var found: [Credential] = []
        for field in request.headerFields where !field.value.isEmpty {
            let kind = CredentialNames.kind(of: field.name)
            if kind != .open { found.append(Credential(field.value, isNamed: kind == .credential)) }
        }
        if let path = request.path, path.utf8.contains(UInt8(ascii: "?")) {
            for part in QueryString(ofPath: path).parts {
                let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard sides.count == 2, CredentialNames.isCredential(parameter: PercentEncoding.decoded(sides[0]))
                else { continue }
                for value in [String(sides[1]), PercentEncoding.decoded(sides[1])] where !value.isEmpty {
                    found.append(Credential(value, isNamed: true))
                }
            }
        }
        if let authority = request.authority, let end = authority.lastIndex(of: "@") {
            let pair = authority[..<end].split(separator: ":", maxSplits: 1)
            found += ([authority[..<end]] + pair.dropFirst()).map { Credential(String($0), isNamed: true) }
        }
        note(found)
    }

    /// Remembers a token.
    package func note(token: String) { note([Credential(token, isNamed: true)]) }

    private func note(_ found: [Credential]) {
        if found.isEmpty { return }
        state.withLock { state in
            for credential in found {
                if let place = state.credentials.lastIndex(of: credential) {
                    state.credentials.remove(at: place)
                } else {
                    state.changed()
                }
                state.credentials.append(credential)
                let alike = state.credentials.count(where: { $0.isNamed == credential.isNamed })
                if alike > Self.most,
                    let oldest = state.credentials.firstIndex(where: { $0.isNamed == credential.isNamed })
                {
                    state.credentials.remove(at: oldest)
                    state.changed()
                }
            }
        }
    }

    /// The search for all remembered values.
    var search: SecretSearch {
        state.withLock { state in
            let search = state.search ?? SecretSearch(state.credentials.flatMap(\.forms))
            state.search = search
            return search
        }
    }

    /// The search for values that were sent under a credential's name.
    var namedSearch: SecretSearch {
        state.withLock { state in
            let search = state.namedSearch ?? SecretSearch(state.credentials.filter(\.isNamed).flatMap(\.forms))
            state.namedSearch = search
            return search
        }
    }

    /// Returns the text without credentials.
    package func hiding(_ text: String) -> String { search.hiding(text) ?? text }
}

extension CredentialBook {
    /// Returns an answer that cannot bring a credential into an error.
    ///
    /// Records are data and stay unchanged, also in refusals, because conflicts are judged by them. So does a
    /// successful answer to a list, a lookup or a custom call. From every other answer the header fields with a
    /// credential are removed, except for the ones that the protocol needs, and its body's texts are cleaned. Reports
    /// about an answer hide all of it: see ``Exchange``.
    func hiding(_ response: SyncResponse, to context: SyncRequest.Context, idColumn: PropertyName) -> SyncResponse {
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
        response.body = MessageBody(bytes: hidden, maximumValues: response.body.maximumValues)
        return response
    }

    /// The header fields of answers that have a meaning for the protocol.
    private static let judged: Set<String> = [
        "content-encoding", "content-length", "content-type", "date", "etag", "link", "repeatability-result",
        "retry-after", "x-sluice-batch",
    ]

    /// Returns the fields without the ones that hold a credential.
    func hiding(_ fields: HTTPFields) -> HTTPFields {
        let search = search
        return HTTPFields(fields.filter { search.hiding($0.value) == nil })
    }

    /// Returns the record for display: without values that were sent under a credential's name. A value that was sent
    /// under another name may be the record's own.
    ///
    /// - Parameter columns: the properties with a meaning for programs, which stay unchanged.
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

    /// Returns the body without credentials.
    package func hiding(_ body: MessageBody) -> MessageBody {
        search.hiding(body.bytes).map { MessageBody(bytes: $0, maximumValues: body.maximumValues) } ?? body
    }

    /// Returns the error without credentials, in its message, its record and its causes.
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

    private func hiding(_ cause: any Error, _ search: SecretSearch) -> any Error {
        if let cause = cause as? SluiceError { return hiding(cause) }
        let texts = ["\(cause)", String(reflecting: cause)]
        guard texts.contains(where: { search.hiding($0) != nil }) else { return cause }
        let text = search.hiding(texts[0]) ?? "\(type(of: cause))"
        return cause is RequestNotSent ? RequestNotSent(text) : HiddenCause(description: text)
    }
}

/// Replaces an error whose text held a credential.
struct HiddenCause: Error, CustomStringConvertible {
    let description: String
}
