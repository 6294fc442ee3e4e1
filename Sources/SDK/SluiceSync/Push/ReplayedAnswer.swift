internal import SluiceBase

/// Decides whether a server's answer may be a replay of an earlier one. A server that remembers request ids returns the
/// first response again; in the meantime others may have changed the record, and a pull may have brought that change.
struct ReplayedAnswer {
    let operation: TableOperation
    let columns: PushColumns

    /// Whether a pull has brought a later record than the answer's: a send applied just now would have found its base
    /// unchanged.
    func isOlder(_ server: JSON?, than state: RecordState?) -> Bool {
        guard operation.isUncertain, let state, state.mirror != nil || (server != nil && state.base != nil) else {
            return false
        }
        // The tombstone of an undelete is no longer known here.
        if operation.kind == .undelete, state.mirror == nil { return false }
        let known = version(state.mirror)
        return known != (sent.map(\.known) ?? version(state.base)) && known != version(server)
    }

    /// Whether an answer can be a replay without any sign of it. An insert or an undelete takes effect whatever the
    /// record was before, so the record may also have been deleted and created again just now.
    var mayBeOld: Bool { operation.isUncertain && (operation.kind == .insert || operation.kind == .undelete) }

    /// Whether the time order of such an answer and the newest known record is unknown.
    func isDoubtful(_ server: JSON, beside state: RecordState) -> Bool {
        guard let mirror = state.mirror else { return true }
        let known = version(mirror)
        return known != version(server) && (sent == nil || known != sent?.known)
    }

    private var sent: SentBody? { operation.sent.last { $0.revision == operation.revision } }

    private func version(_ record: JSON?) -> String? { record?[columns.version]?.string }
}
