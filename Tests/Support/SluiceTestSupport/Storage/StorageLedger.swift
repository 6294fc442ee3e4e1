internal import SluiceCore
internal import Synchronization

/// What the application of a trial did, in order, and whether the store acknowledged it. No two edits are of the same
/// property of a record, so that none hides another.
final class StorageLedger: Sendable {
    struct Edit: Sendable {
        var id: RecordID
        /// The properties that the edit set; none for a delete.
        var fields: [String: Int]
        var isAcknowledged: Bool

        /// Whether a record that is like this has the edit; nil where it has a part of it.
        func isSeen(in record: JSON?) -> Bool? {
            if fields.isEmpty { return record == nil }
            let seen = fields.filter { record?[$0.key]?.int == Int64($0.value) }.count
            return seen == fields.count ? true : seen == 0 ? false : nil
        }
    }

    private let noted = Mutex<[Edit]>([])
    private let unexpected = Mutex<[String]>([])

    var edits: [Edit] { noted.withLock { $0 } }
    /// Errors that a fault of the storage does not explain.
    var surprises: [String] { unexpected.withLock { $0 } }

    /// Runs an edit and notes how it ended.
    func edit(_ id: RecordID, _ fields: [String: Int] = [:], _ body: (JSON) async throws -> Void) async {
        var record: JSON = ["id": JSON(id)]
        for (name, value) in fields { record[name] = JSON(value) }
        do {
            try await body(record)
            noted.withLock { $0.append(Edit(id: id, fields: fields, isAcknowledged: true)) }
        } catch let error as SluiceError where error.code.isStore {
            noted.withLock { $0.append(Edit(id: id, fields: fields, isAcknowledged: false)) }
        } catch let error as SluiceError where [.recordMissing, .recordExists, .operationRefused].contains(error.code) {
            // The edit before it failed, so that this one has nothing to stand on.
        } catch {
            surprise("the edit of \(id) threw \(error)")
        }
    }

    func surprise(_ text: String) { unexpected.withLock { $0.append(text) } }
}
