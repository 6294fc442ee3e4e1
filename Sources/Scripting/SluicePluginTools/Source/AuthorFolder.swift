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
            try write(bytes, to: name)
        }
    }

    /// Writes a file, and creates missing folders on the way. It follows no symbolic links below the folder: somebody
    /// else's could lead to any file of the user's.
    private func write(_ bytes: [UInt8], to name: String) throws(SluiceError) {
        var part = path
        do throws(SystemFailure) {
            do {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            } catch {
                throw SystemFailure("mkdir", code: errno == 0 ? EACCES : errno)
            }
            // The caller may name the folder itself by a link.
            var folder = try OpenFile(path, .folder)
            let parts = name.split(separator: "/").map(String.init)
            for next in parts.dropLast() {
                part = next
                guard mkdirat(folder.descriptor, part, 0o777) == 0 || errno == EEXIST else { throw .last("mkdirat") }
                folder = try OpenFile(part, [.folder, .withoutLinks], in: folder)
            }
            part = parts.last ?? ""
            let file = try OpenFile(
                part, [.writing, .creating, .withoutLinks, .withoutWaiting], mode: 0o666, in: folder)
            let status = try file.status()
            // A hard link leads out of the folder as a symbolic link does.
            guard status.isFile, status.links == 1 else { throw SystemFailure("open", code: EMLINK) }
            try file.truncate(to: 0)
            try file.write(bytes)
        } catch {
            // The system reports ENOTDIR for a link in the place of a folder.
            let reason =
                [ELOOP, ENOTDIR].contains(error.code)
                ? "\(part) is a symbolic link, or no folder" : "\(part): \(error.reason)"
            throw SluiceError(.invalidArgument, "\(path)/\(name) cannot be written: \(reason)")
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
