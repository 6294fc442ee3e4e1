internal import SluiceBase

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A private copy of an old store's file, with the log or the journal that belongs to it.
///
/// SQLite may write to a file that it only reads: it rolls a journal back, and keeps an index of the log. A small store
/// can be in its log alone. So the copy is opened and never the file itself. It is removed with the last reference.
final class StoreCopy: Sendable {
    /// The path of the copy.
    let path: String
    private let folder: String
    private static let suffixes = ["", "-wal", "-journal"]

    /// - Parameter place: the folder in which a folder for the copy is made, readable by the owner alone.
    /// - Throws: ``SluiceError`` of code `invalidArgument` where there is no file; `storeBusy` for a file that changes
    ///   while it is copied; `storeFull` and `storeInputOutput`.
    init(of original: String, in place: String) throws(SluiceError) {
        guard FileStatus(original)?.isFile == true else {
            throw SluiceError(.invalidArgument, "there is no file \(original)")
        }
        var template = Array("\(place)/sluice-adopt-XXXXXX".utf8CString)
        guard let made = template.withUnsafeMutableBufferPointer({ mkdtemp($0.baseAddress!) }) else {
            throw Self.failure(place, .last("mkdtemp"))
        }
        folder = String(cString: made)
        path = "\(folder)/store.db"
        let before = Self.states(of: original)
        for suffix in Self.suffixes where FileStatus(original + suffix) != nil {
            do throws(SystemFailure) {
                try Self.copy(original + suffix, to: path + suffix)
            } catch {
                throw Self.failure(original + suffix, error)
            }
        }
        guard Self.states(of: original) == before else {
            throw SluiceError(.storeBusy, "\(original) changes while it is read: end the program that has it open")
        }
    }

    deinit {
        for suffix in Self.suffixes + ["-shm"] { unlink(path + suffix) }
        rmdir(folder)
    }

    private static func states(of original: String) -> [FileStatus?] { suffixes.map { FileStatus(original + $0) } }

    private static func copy(_ from: String, to: String) throws(SystemFailure) {
        let (source, target) = (try OpenFile(from, .filesOnly), try OpenFile(to, [.writing, .new]))
        while true {
            let bytes = try source.read(upTo: 1 << 20)
            if bytes.isEmpty { return }
            try target.write(bytes)
        }
    }

    private static func failure(_ path: String, _ failure: SystemFailure) -> SluiceError {
        SluiceError(
            failure.isFull ? .storeFull : .storeInputOutput, "\(path) cannot be copied to read it (\(failure.reason))")
    }
}
