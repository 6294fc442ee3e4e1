internal import SluiceCore
internal import Synchronization

/// Records on their way from one hook to the next, of which a plugin has said that they stay here.
///
/// A record is known by its identity and not by what is in it: two writes of the same may be under way at once. One
/// that never arrives, because its write was given up, is forgotten with its last owner.
final class LocalRecords: Sendable {
    private struct Note {
        weak var record: JSONHandle?
    }

    private let notes = Mutex<[Note]>([])

    /// Takes note of a record.
    func note(_ record: JSON) {
        notes.withLock { notes in
            notes.removeAll { $0.record == nil }
            notes.append(Note(record: record.handle))
        }
    }

    /// Whether that record was noted. It is not any more.
    func take(_ record: JSON) -> Bool {
        notes.withLock { notes in
            guard let index = notes.firstIndex(where: { $0.record === record.handle }) else { return false }
            notes.remove(at: index)
            return true
        }
    }
}
