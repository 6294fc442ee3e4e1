package import HTTPTypes
internal import Synchronization

/// Remembers the credentials that a client's requests were sent with, and takes them out of what the server, filters
/// and transports say.
///
/// All requests of a client share one book: a server may repeat the token of an earlier request, or that of another
/// part of a batch.
package final class CredentialBook: Sendable {
    /// How many credentials are remembered, the newest, and how many values that may be some.
    private static let most = 32

    private struct State {
        /// In the order in which they were last sent.
        var credentials: [Credential] = []
        /// Nil after a change.
        var search: CredentialSearch?
        var namedSearch: CredentialSearch?

        mutating func changed() { (search, namedSearch) = (nil, nil) }
    }

    private let state = Mutex(State())

    package init() {}

    /// Remembers a request's credentials: the values of header fields, of query parameters with a credential's name,
    /// and what stands before the `@` of the authority.
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

    /// Looks for all that is remembered.
    var search: CredentialSearch {
        state.withLock { state in
            let search = state.search ?? CredentialSearch(state.credentials)
            state.search = search
            return search
        }
    }

    /// Looks for what was sent under the name of a credential.
    var namedSearch: CredentialSearch {
        state.withLock { state in
            let search = state.namedSearch ?? CredentialSearch(state.credentials.filter(\.isNamed))
            state.namedSearch = search
            return search
        }
    }

    /// The text without credentials.
    package func hiding(_ text: String) -> String { search.hiding(text) ?? text }
}
