internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore
internal import SluiceLua

/// A folder of a plugin's author that tools write to.
struct AuthorFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes files, by their paths in the folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if they cannot be written.
    func write(_ files: [String: [UInt8]], isNew: Bool = false) throws(SluiceError) {
        let manager = FileManager.default
        if isNew, let names = try? manager.contentsOfDirectory(atPath: path), !names.isEmpty {
            throw SluiceError(.invalidArgument, "\(path) is there already, and not empty")
        }
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            do throws(LinkFreeFile.Fault) {
                try LinkFreeFile.write(bytes, to: name, in: path)
            } catch {
                throw SluiceError(.invalidArgument, "\(path)/\(name) cannot be written: \(error)")
            }
        }
    }

    /// Reads a file at any path.
    static func read(_ path: String) throws(SluiceError) -> [UInt8] {
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SluiceError(.invalidArgument, "\(path) cannot be read: \(UnreadableFile.reason(path))")
        }
    }
}

/// Writes a file below a folder without following symbolic links there. Somebody else's folder could contain a link to
/// any file of the user's.
enum LinkFreeFile {
    /// A system call that failed.
    struct Fault: Error, CustomStringConvertible {
        let path: String
        let code: CInt
        var description: String {
            // The system reports ENOTDIR for a link in the place of a folder.
            code == ELOOP || code == ENOTDIR
                ? "\(path) is a symbolic link, or no folder" : "\(path): \(String(cString: strerror(code)))"
        }
    }

    /// Writes the bytes to a path below the folder, and creates missing folders on the way.
    static func write(_ bytes: [UInt8], to path: String, in root: String) throws(Fault) {
        do {
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        } catch {
            throw Fault(path: root, code: errno == 0 ? EACCES : errno)
        }
        // The caller may name the folder itself by a link.
        var folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Fault(path: root, code: errno) }
        defer { close(folder) }
        let parts = path.split(separator: "/").map(String.init)
        for part in parts.dropLast() {
            guard mkdirat(folder, part, 0o777) == 0 || errno == EEXIST else { throw Fault(path: part, code: errno) }
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw Fault(path: part, code: errno) }
            close(folder)
            folder = next
        }
        let name = parts.last ?? ""
        let file = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Fault(path: name, code: errno) }
        defer { close(file) }
        var info = stat()
        // A hard link leads out of the folder as a symbolic link does.
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else {
            throw Fault(path: name, code: EMLINK)
        }
        guard ftruncate(file, 0) == 0 else { throw Fault(path: name, code: errno) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(file, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Fault(path: name, code: errno) }
            done += count
        }
    }
}
