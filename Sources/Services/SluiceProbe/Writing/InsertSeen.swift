internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// A row that was made, made again with another text, and read.
struct InsertSeen: ProbeObservation {
    var id: RecordID?
    var made: ProbeRecord
    /// The second insert with the id; nil where the service makes ids.
    var again: ProbeRecord?
    var found: ProbeRecord?
    var columns = SystemColumns()
    /// Whether the adapter of a service reads the record after a refusal by itself.
    var isService = false
    /// The time by which a saved cursor stays behind the server's clock: the default of a context.
    private static let commitLag = SyncOptions().commitLag.components.seconds * Timestamp.ticksPerSecond

    var findings: [ProbeFinding] { insert + repeated + read + clock }

    private var insert: [ProbeFinding] {
        guard let error = made.error else { return [] }
        if made.isDone, let id, let other = made.bodyID, other != id {
            return [ProbeFinding(.idReplaced, "\(id.text) was made as \(other.text)")]
        }
        return [
            made.isDone
                ? ProbeFinding(.answersOther, "an insert is answered \(made.status ?? 0): \(error.message)")
                : ProbeFinding(.insertRefused, error.message)
        ]
    }

    private var repeated: [ProbeFinding] {
        guard let again, made.error == nil else { return [] }
        if again.isDone {
            return [ProbeFinding(.insertOverwrites, "a second insert of one id is answered \(again.status ?? 0)")]
        }
        guard let error = again.error, [.conflict, .preconditionFailed].contains(error.code) else {
            return [
                ProbeFinding(
                    .insertMisjudged, "a second insert of one id: \(again.error?.message ?? "\(again.status ?? 0)")")
            ]
        }
        guard !isService, error.serverRecord == nil else { return [] }
        return [
            ProbeFinding(.conflictBare, "a second insert of one id is answered \(again.status ?? 0) without a record")
        ]
    }

    private var read: [ProbeFinding] {
        guard let found, made.error == nil, let version = made.json?[columns.version]?.string else { return [] }
        if let error = found.error, error.code == .notFound {
            return [ProbeFinding(.readsLag, "a row is not found right after it was made")]
        }
        guard let json = found.json, let read = json[columns.version]?.string, read != version, again?.isDone != true
        else {
            return []
        }
        return [ProbeFinding(.readsLag, "a row has the version \(read) right after it was made as \(version)")]
    }

    private var clock: [ProbeFinding] {
        guard let date = made.date, let time = made.json?[columns.updatedAt]?.string.flatMap({ Timestamp($0) }) else {
            return []
        }
        if date.ticks - time.ticks > Self.commitLag {
            return [ProbeFinding(.clockAhead, "a row made at \(date) by the web server's clock has the time \(time)")]
        }
        guard time.ticks - date.ticks > CursorCeiling.tolerance else { return [] }
        return [ProbeFinding(.timesAhead, "a row made at \(date) by the server's clock has the time \(time)")]
    }
}

/// One row that was updated on its version, and on an old one.
struct UpdateSeen: ProbeObservation {
    var id: RecordID
    /// The record before, as the server had it.
    var before: JSON
    var column: PropertyName
    var value: JSON
    var updated: ProbeRecord
    /// The row read after it, and after the update on the old version.
    var after: ProbeRecord
    var stale: ProbeRecord?
    var afterStale: ProbeRecord?
    var columns = SystemColumns()
    var isService = false

    var findings: [ProbeFinding] {
        if let error = updated.error {
            return [
                updated.isDone
                    ? ProbeFinding(.answersOther, "an update is answered \(updated.status ?? 0): \(error.message)")
                    : ProbeFinding(.updateRefused, error.message)
            ]
        }
        return effect + condition
    }

    private var effect: [ProbeFinding] {
        guard let record = after.json else { return [] }
        var found: [ProbeFinding] = []
        guard record[column] == value else {
            return [
                ProbeFinding(
                    .updateIgnored, "an update is answered \(updated.status ?? 0), and the row is as it was")
            ]
        }
        let system = columns.all
        if let lost = before.members?.first(where: { name, value in
            name != column && !system.contains(name) && !value.isNull && record[name]?.isNull ?? true
        }) {
            found.append(ProbeFinding(.updateReplaces, "an update of \(column) has taken \(lost.name) away"))
        }
        if let version = before[columns.version]?.string, version == record[columns.version]?.string {
            found.append(ProbeFinding(.versionUnchanged, "the version is \(version) before and after an update"))
        }
        if let time = before[columns.updatedAt]?.string, time == record[columns.updatedAt]?.string {
            found.append(ProbeFinding(.timeUnchanged, "the time of change is \(time) before and after an update"))
        }
        if !isService, updated.json == nil {
            found.append(ProbeFinding(.answersNothing, "an update is answered \(updated.status ?? 0) without a record"))
        }
        return found
    }

    private var condition: [ProbeFinding] {
        guard let stale else { return [] }
        if stale.isDone {
            let isDone = afterStale?.json?[columns.version] != after.json?[columns.version]
            return [
                isDone
                    ? ProbeFinding(.conditionIgnored, "an update on an old version is answered \(stale.status ?? 0)")
                    : ProbeFinding(
                        .updateIgnored, "an update is answered \(stale.status ?? 0), and nothing was changed")
            ]
        }
        guard let error = stale.error, [.preconditionFailed, .conflict].contains(error.code) else {
            return [ProbeFinding(.conditionMisjudged, "an update on an old version: \(stale.error?.message ?? "")")]
        }
        guard !isService, error.serverRecord == nil else { return [] }
        return [
            ProbeFinding(
                .preconditionBare, "an update on an old version is answered \(stale.status ?? 0) without a record")
        ]
    }
}
