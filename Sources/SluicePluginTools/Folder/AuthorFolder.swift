internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore
internal import SluiceLua

/// A folder that tools for authors write to.
struct AuthorFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes files, by their paths in the folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` where that cannot be done.
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

    /// Reads a file of the folder; the path may be that of any file.
    static func read(_ path: String) throws(SluiceError) -> [UInt8] {
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw SluiceError(.invalidArgument, "\(path) cannot be read: \(UnreadableFile.reason(path))")
        }
    }
}
