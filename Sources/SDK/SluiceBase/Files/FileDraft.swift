#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A new file in the making: it has its name only with everything in it, on the disk. A file of that name is replaced only
/// on request, and then at once.
///
/// It is written beside its name. A process that ends in the midst leaves the draft, which the next one uses.
package final class FileDraft: Sendable {
    private static let suffix = "-sluice-draft"

    /// The path to write at until the file is whole.
    package let path: String
    /// The draft, open for reading and writing.
    package let file: OpenFile
    private let name: String
    private let isReplacing: Bool

    /// Begins a file that only its owner may read.
    ///
    /// - Parameter isReplacing: whether it may take the place of a file of that name.
    /// - Throws: ``SystemFailure`` of code `EEXIST` if there is a file of that name that it may not replace, `EBUSY` if
    ///   another draft of it is in the making.
    package init(of name: String, isReplacing: Bool = false) throws(SystemFailure) {
        (self.name, path, self.isReplacing) = (name, name + Self.suffix, isReplacing)
        guard isReplacing || FileStatus(name) == nil else { throw SystemFailure("open", code: EEXIST) }
        file = try OpenFile(path, [.updating, .creating, .withoutLinks, .filesOnly])
        // The one who claimed it before may just have finished it.
        guard try file.claim(), file.isAt(path) else { throw SystemFailure("flock", code: EBUSY) }
        guard fchmod(file.descriptor, 0o600) == 0 else { throw .last("fchmod") }
        try file.truncate(to: 0)
    }

    /// Gives the file its name, after everything in it is on the disk.
    package func finish() throws(SystemFailure) {
        try file.sync()
        guard file.isAt(path) else { throw SystemFailure("rename", code: ENOENT) }
        guard isReplacing || FileStatus(name) == nil else { throw SystemFailure("rename", code: EEXIST) }
        guard rename(path, name) == 0 else { throw .last("rename") }
        let slash = name.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
        try OpenFile(folder, .folder).sync()
    }

    /// Removes the file, under the name that it has. One that has replaced another stays.
    package func discard() {
        for place in isReplacing ? [path] : [path, name] where file.isAt(place) { unlink(place) }
    }

    /// Replaces a file at once, or leaves it as it is.
    ///
    /// - Throws: ``SystemFailure``. If only the folder could not be synced, the new file is there, and a power cut may bring
    ///   back the former one.
    package static func replace(_ name: String, with bytes: [UInt8]) throws(SystemFailure) {
        let draft = try FileDraft(of: name, isReplacing: true)
        do throws(SystemFailure) {
            try draft.file.write(bytes)
            try draft.finish()
        } catch {
            draft.discard()
            throw error
        }
    }
}
