internal import Foundation
internal import Sluice
internal import SluiceDaemon

/// A new store, which has its name only with everything in it.
struct NewStore {
    let path: String
    let settings: ClientSettings

    init(_ settings: ClientSettings) throws {
        path = SQLiteStore.resolved(try settings.requireStore())
        self.settings = settings
    }

    /// Makes the store.
    ///
    /// - Parameter fill: writes what is to be in it. If that fails, there is no store.
    func make<Result>(_ fill: (SQLiteStore) async throws -> Result) async throws -> Result {
        let encryption = try settings.storeKey?.encryption()
        mkdir(URL(fileURLWithPath: path).deletingLastPathComponent().path, 0o700)
        let draft = try draft()
        do {
            removeCompanions(of: draft)
            let store = try SQLiteStore(path: draft.path, encryption: encryption, options: settings.storeOptions)
            let result: Result
            do {
                result = try await fill(store)
                try await store.close()
            } catch {
                try? await store.close()
                throw error
            }
            try finish(draft)
            return result
        } catch {
            removeCompanions(of: draft)
            draft.discard()
            throw error
        }
    }

    private func draft() throws -> FileDraft {
        // A log of a store that is gone would be taken for that of the new one.
        guard FileStatus(path + "-wal").map({ $0.size == 0 }) ?? true else {
            throw CommandFailure.usage(
                "\(Plain.line(path))-wal is there, the log of a store that is gone; move it away")
        }
        do throws(SystemFailure) {
            return try FileDraft(of: path)
        } catch  where error.code == EEXIST {
            throw CommandFailure.usage("\(Plain.line(path)) is there already: an export is read into a new store")
        } catch {
            throw CommandFailure.usage("\(Plain.line(path)) cannot be made: \(error.reason)")
        }
    }

    private func finish(_ draft: FileDraft) throws {
        guard FileStatus(draft.path + "-wal").map({ $0.size == 0 }) ?? true else {
            throw SluiceError(.storeInputOutput, "the log of the new store \(path) cannot be moved into its file")
        }
        removeCompanions(of: draft)
        do throws(SystemFailure) {
            try draft.finish()
        } catch {
            throw SluiceError(.storeInputOutput, "the new store \(path) cannot be written (\(error.description))")
        }
    }

    /// Removes the files beside the draft: its log and its locks.
    private func removeCompanions(of draft: FileDraft) {
        for file in StoreFileNames.all(draft.path) where file != draft.path { unlink(file) }
    }
}
