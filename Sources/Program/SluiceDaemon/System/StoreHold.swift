internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// A daemon's claim to a store: a kernel lock on a file beside the store, with the holder's details in it. The lock
/// ends with the process, even after a crash.
package struct StoreHold: ~Copyable {
    /// The daemon that holds a store.
    package struct Holder: Sendable, Hashable {
        package var process: Int
        /// The holder's configuration file; nil if it has none.
        package var configuration: String?
        /// The path of its control socket.
        package var socket: String?
        /// The daemon's endpoint for the store; empty if it has a single one.
        package var endpoint: String

        /// The holder's description in error messages.
        package var description: String {
            "the daemon with process id \(process)"
                + (configuration.map { ", which runs with \(PlainText.line($0))" } ?? "")
        }
    }

    private let descriptor: Int32
    private let path: String

    /// Returns the path beside the store itself, with symbolic links resolved. The store need not exist yet.
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
    /// - Throws: ``SluiceError`` of code `storeBusy` that names the holding daemon; of a store code if the file cannot
    ///   be written.
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
        // A child process forked at this moment shares the descriptor until it runs its program.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether the locked file is still the one at the path.
    var isInPlace: Bool { FileIdentity(path).map { $0 == FileIdentity(descriptor: descriptor) } ?? false }

    /// Returns the daemon that holds a store; nil if none does.
    package static func holder(of store: String) -> Holder? {
        let descriptor = open(path(store), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // A free lock has no holder, even if the file still names a former daemon.
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
