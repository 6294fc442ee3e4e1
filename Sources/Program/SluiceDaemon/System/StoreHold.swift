internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// A daemon's claim to a store: a lock of the kernel on a file beside the store, which says who holds it. It ends with the
/// process, however that ends.
package struct StoreHold: ~Copyable {
    /// Who holds a store.
    package struct Holder: Sendable, Hashable {
        package var process: Int
        /// The holder's configuration file; nil where it has none.
        package var configuration: String?
        /// The socket by which it is controlled.
        package var socket: String?
        /// The name of the daemon's endpoint to which the store belongs; empty where it has a single one.
        package var endpoint: String

        /// For an error message.
        package var description: String {
            "the daemon with process id \(process)"
                + (configuration.map { ", which runs with \(PlainText.line($0))" } ?? "")
        }
    }

    private let descriptor: Int32
    private let path: String

    /// The file beside the store itself, whatever symbolic links lead to that, which need not be there yet.
    private static func path(_ store: String) -> String {
        var url = URL(fileURLWithPath: store)
        for _ in 0..<32 {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(fileURLWithPath: target, relativeTo: url.deletingLastPathComponent()).standardizedFileURL
        }
        let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
        return folder.appendingPathComponent(url.lastPathComponent).path + "-daemon"
    }

    /// Claims a store.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` that names the daemon which has it, of a store code where the file
    ///   cannot be written.
    package init(store: String, _ holder: Holder) throws {
        let path = Self.path(store)
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else {
            throw SluiceError(.storeInputOutput, "\(PlainText.line(path)) cannot be written: \(Self.reason)")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            let other = Self.holder(of: store)?.description ?? "another daemon"
            throw SluiceError(.storeBusy, "the store \(PlainText.line(store)) is held by \(other)")
        }
        var json: JSON = ["process": JSON(holder.process), "endpoint": JSON(holder.endpoint)]
        if let file = holder.configuration { json["configuration"] = JSON(file) }
        if let socket = holder.socket { json["socket"] = JSON(socket) }
        let bytes = json.bytes()
        let written =
            ftruncate(descriptor, 0) == 0
            && bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
        guard written else {
            close(descriptor)
            throw SluiceError(.storeInputOutput, "\(PlainText.line(path)) cannot be written: \(Self.reason)")
        }
        (self.descriptor, self.path) = (descriptor, path)
    }

    deinit {
        // A child process that begins at this moment has the descriptor too until it runs its program.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether the file that is locked is still the one that others find.
    var isInPlace: Bool { FileIdentity(path).map { $0 == FileIdentity(descriptor: descriptor) } ?? false }

    /// The daemon that holds a store; nil where none does.
    package static func holder(of store: String) -> Holder? {
        let descriptor = open(path(store), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A lock that can be had is held by nobody, whatever the file says of a daemon that was.
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0, let json = try? JSON(parsing: Array(bytes[..<count])), let process = json["process"]?.int
        else {
            return nil
        }
        return Holder(
            process: Int(process), configuration: json["configuration"]?.string, socket: json["socket"]?.string,
            endpoint: json["endpoint"]?.string ?? "")
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
