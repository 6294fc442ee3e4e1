#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The identity of the file at a path: another file that gets the same name is not the same file.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    fileprivate let number: UInt64

    /// Nil if there is no file.
    package init?(_ path: String) {
        guard let status = FileStatus(path) else { return nil }
        self = status.identity
    }

    /// Nil for a descriptor that is not open.
    package init?(descriptor: Int32) {
        guard let status = FileStatus(descriptor: descriptor) else { return nil }
        self = status.identity
    }

    fileprivate init(_ info: stat) {
        (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
    }
}

/// The properties of a file. Two that are equal belong to one file that was neither written nor replaced in between.
package struct FileStatus: Sendable, Hashable, CustomStringConvertible {
    /// The file's identity.
    package let identity: FileIdentity
    /// The size in bytes.
    package let size: Int
    /// The number of the file's names (hard links).
    package let links: Int
    /// The kind and the permissions.
    private let mode: UInt32
    /// The times of the last change of the content and of the properties, in seconds and nanoseconds.
    private let times: [Int]

    /// Nil if there is no file. Links are followed.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        self.init(info)
    }

    /// Nil for a descriptor that is not open.
    package init?(descriptor: Int32) {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return nil }
        self.init(info)
    }

    private init(_ info: stat) {
        identity = FileIdentity(info)
        size = Int(info.st_size)
        links = Int(clamping: info.st_nlink)
        mode = UInt32(info.st_mode)
        #if canImport(Glibc)
            let (modified, changed) = (info.st_mtim, info.st_ctim)
        #else
            let (modified, changed) = (info.st_mtimespec, info.st_ctimespec)
        #endif
        times = [modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec]
    }

    /// Whether it is a file with content, and no folder, pipe or device.
    package var isFile: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
    /// Whether it is a folder.
    package var isFolder: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFDIR) }
    /// The permissions of owner, group and others.
    package var permissions: UInt32 { mode & 0o777 }
    package var description: String { "\(identity.number) \(size) \(times)" }
}
