internal import SluiceCore
internal import Synchronization

/// Records that a plugin marked as local only, on their way between two hooks.
///
/// A record is known by its identity, not by its content: two equal writes may be under way at once. If a write is
/// given up, its note is forgotten with the last owner of the record.
final class LocalRecords: Sendable {
    private struct Note {
        weak var record: JSONHandle?
    }

    private let notes = Mutex<[Note]>([])

    /// Marks a record as local only.
    func note(_ record: JSON) {
        notes.withLock { notes in
            notes.removeAll { $0.record == nil }
            notes.append(Note(record: record.handle))
        }
    }

    /// Removes the mark of a record, and returns whether it had one.
    func take(_ record: JSON) -> Bool {
        notes.withLock { notes in
            guard let index = notes.firstIndex(where: { $0.record === record.handle }) else { return false }
            notes.remove(at: index)
            return true
        }
    }
}
