internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Calls to the file system about files in the place of a store. Each throws `storeInputOutput`.
enum StoreFiles {
    /// Renames a file, replacing one that has the name already.
    static func move(_ from: String, to: String) throws {
        try call(rename(from, to), "rename", from)
    }

    /// Removes a file, if it is there.
    static func remove(_ path: String) throws {
        let result = unlink(path)
        if result != 0, errno == ENOENT { return }
        try call(result, "remove", path)
    }

    /// Removes an empty folder, if it is there.
    static func removeFolder(_ path: String) throws {
        let result = rmdir(path)
        if result != 0, errno == ENOENT { return }
        try call(result, "remove", path)
    }

    /// Syncs the file's content to the disk.
    static func sync(_ path: String) throws {
        try calling("sync", path) { () throws(SystemFailure) in try OpenFile(path).sync() }
    }

    /// Syncs the names in the file's folder to the disk.
    static func syncFolder(of path: String) throws { try sync(StoreFolder.folder(of: path)) }

    /// Gives the file the mode, the owner and the group of another.
    static func giveOwner(of model: String, to path: String) throws {
        var (wanted, found) = (stat(), stat())
        try call(stat(model, &wanted), "read", model)
        try call(stat(path, &found), "read", path)
        if found.st_uid != wanted.st_uid || found.st_gid != wanted.st_gid {
            try call(chown(path, wanted.st_uid, wanted.st_gid), "give the owner of the store to", path)
        }
        try call(chmod(path, wanted.st_mode & 0o7777), "give the mode of the store to", path)
    }

    /// - Throws: if the result of a system call is negative.
    private static func call(_ result: Int32, _ what: String, _ path: String) throws {
        if result < 0 { throw failure(.last(what), what, path) }
    }

    /// Returns the result of system calls.
    static func calling<Result>(
        _ what: String, _ path: String, _ body: () throws(SystemFailure) -> Result
    ) throws(SluiceError) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw failure(error, what, path)
        }
    }

    private static func failure(_ failure: SystemFailure, _ what: String, _ path: String) -> SluiceError {
        SluiceError(.storeInputOutput, "cannot \(what) \(path) (\(failure.reason))")
    }
}
