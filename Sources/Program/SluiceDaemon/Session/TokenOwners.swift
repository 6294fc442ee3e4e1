internal import Sluice
internal import Synchronization

/// The owners of tokens by which users that settings name have been served, kept for the life of a process: a reload, which
/// a changed token file causes too, does not make another's token this user's.
package final class TokenOwners: Sendable {
    private struct Session: Hashable {
        var store: ExactName
        var user: ExactName
    }
    private let first = Mutex<[Session: String]>([:])

    package init() {}

    /// Whether the owner is the first one for a user of a store.
    func isFirst(_ owner: String, for user: String, of store: String) -> Bool {
        first.withLock { first in
            let session = Session(store: ExactName(store), user: ExactName(user))
            let known = first[session] ?? owner
            first[session] = known
            return known.hasSameBytes(as: owner)
        }
    }
}
