internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// One row that was deleted on an old version, and on its own; with the traces that it leaves.
struct DeleteSeen: ProbeObservation {
    var id: RecordID
    var before: JSON
    var stale: ProbeRecord?
    /// The row after the delete on an old version.
    var afterStale: ProbeRecord?
    var deleted: ProbeRecord
    var after: ProbeRecord
    /// The rows of the id in a list with deleted rows.
    var traces: ProbePage?
    /// The outcome of the wire's undelete; nil where it was not tried.
    var undeleted: ProbeRecord?
    /// Whether a pull that followed the changes brought the update and the delete; nil where it was not tried.
    var pulledUpdate: Bool?
    var pulledDelete: Bool?
    var columns = SystemColumns()
    var isService = false
    /// Whether the device that pulled follows change tokens. Without them a service reports no deletes.
    var hasTokens = false

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if pulledUpdate == false {
            found.append(
                ProbeFinding(.changesMissed, "a pull does not bring an update that was made since the last one"))
        }
        if let stale, stale.isDone, afterStale?.error?.code == .notFound || isMarked(afterStale) {
            found.append(
                ProbeFinding(.deleteConditionIgnored, "a delete on an old version is answered \(stale.status ?? 0)"))
            return found
        }
        if let error = deleted.error, error.code != .notFound {
            return found + [ProbeFinding(.deleteRefused, error.message)]
        }
        if after.json != nil, !isMarked(after) {
            return found + [
                ProbeFinding(.deleteIgnored, "a delete is answered \(deleted.status ?? 0), and the row is still there")
            ]
        }
        return found + left
    }

    private var left: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if !isService {
            if let trace = traces?.rows.first(where: { $0.id.isSame(as: id) && $0.isDeleted }) {
                if let time = before[columns.updatedAt]?.string, trace.updatedAt == time {
                    found.append(
                        ProbeFinding(.deleteTimeUnchanged, "the time of change is \(time) before and after a delete"))
                }
            } else {
                found.append(ProbeFinding(.deleteUntraced, "a deleted row is in no list"))
            }
        }
        if pulledDelete == false, found.isEmpty, !isService || hasTokens {
            found.append(
                ProbeFinding(.deletesMissed, "a pull does not bring a delete that was made since the last one"))
        }
        if let error = undeleted?.error { found.append(ProbeFinding(.undeleteRefused, error.message)) }
        return found
    }

    private func isMarked(_ record: ProbeRecord?) -> Bool { record?.json?[columns.deleted] == true }

    var facts: [(subject: String, text: String)] {
        guard isService else { return [] }
        return [
            (
                "deletes",
                pulledDelete == true
                    ? "a pull brings them"
                    : "a pull brings none; a reconcile finds them, by itself with every 50th pull"
            )
        ]
    }
}
