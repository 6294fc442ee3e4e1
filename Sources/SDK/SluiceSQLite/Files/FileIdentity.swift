#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The identity of the file at a path: another file that gets the same name is not the same file.
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if there is no file.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
    }

    /// Nil for a descriptor that is not open.
    package init?(descriptor: Int32) {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return nil }
        (device, number) = (UInt64(info.st_dev), UInt64(info.st_ino))
    }
}
