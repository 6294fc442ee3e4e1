internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The files that belong to a store.
package enum StoreFileNames {
    /// The suffixes of the files beside the store: its log, its locks, and a daemon's files.
    static let suffixes = ["", "-wal", "-shm", "-lock", LeaseFile.suffix, "-daemon", ".sock"]

    /// Returns the paths of all, whether they exist or not.
    package static func all(_ store: String) -> [String] { suffixes.map { store + $0 } }

    /// Returns the names of the logs that were set aside because another file had taken the store's name.
    package static func logsOfReplaced(_ store: String) -> [String] {
        StoreFolder.names(beside: store).filter { $0.hasPrefix(StoreFolder.name(of: store) + LogOwner.replacedMark) }
            .sorted()
    }
}

/// Paths and permissions of the files beside a store.
enum StoreFolder {
    /// The mode of a new file: its owner only.
    private static let fileMode: UInt32 = 0o600

    /// Returns the mode for a file beside the store: the store's own mode, if that exists.
    static func mode(beside path: String) -> UInt32 {
        FileStatus(path).map { $0.permissions & 0o666 } ?? fileMode
    }

    /// Returns the folder of the file.
    static func folder(of path: String) -> String {
        guard let slash = slash(in: path) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the file's name in its folder.
    static func name(of path: String) -> String {
        slash(in: path).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Searches bytes: a `/` with a combining mark after it would be another character.
    private static func slash(in path: String) -> String.Index? { path.utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// Returns the target of the symbolic link; nil if it is no link.
    static func target(ofLink path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        return readlink(path, &target, target.count - 1) > 0
            ? target.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } : nil
    }

    /// Returns the names in the file's folder.
    static func names(beside path: String) -> [String] {
        guard let folder = opendir(folder(of: path)) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                    names.append(String(cString: $0))
                }
            }
        }
        return names
    }

    /// Returns the path under which a file of the store is set aside at that time.
    static func aside(_ path: String, _ mark: String, _ time: Timestamp) -> String {
        path + mark + time.text(fractionDigits: 3).filter { $0.isNumber || $0 == "T" || $0 == "Z" }
    }

    /// Creates the folder of the file, for its owner only; the folder above has to exist. A failure shows when the file
    /// is opened.
    static func makeFolder(of path: String) {
        _ = mkdir(folder(of: path), 0o700)
    }

    /// Creates the file, empty and for its owner only. SQLite would take the mode from the process, and gives its log
    /// the mode of the file. A failure shows when the file is opened.
    static func makeFile(_ path: String) {
        _ = try? OpenFile(path, [.updating, .new], mode: fileMode)
    }

    /// Whether there is anything by that name.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns the file's size in bytes; 0 for a missing file.
    static func size(of path: String) -> Int { FileStatus(path)?.size ?? 0 }

    /// Returns the number of the file's names (hard links); 0 for a missing file.
    static func links(to path: String) -> Int { FileStatus(path)?.links ?? 0 }

    /// Whether there is a folder by that name.
    static func isFolder(_ path: String) -> Bool { FileStatus(path)?.isFolder ?? false }

    /// Whether anyone but its owner may read the file, and reach it through the folder.
    static func isReadableByOthers(_ path: String) -> Bool {
        guard let file = FileStatus(path), let folder = FileStatus(folder(of: path)) else { return false }
        return file.permissions & 0o044 & (folder.permissions & 0o011) << 2 != 0
    }
}
