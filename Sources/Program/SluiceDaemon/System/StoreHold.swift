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

    private let file: OpenFile
    private let path: String

    /// Returns the path beside the store itself. The store need not exist yet.
    private static func path(_ store: String) -> String { SQLiteStore.resolved(store) + "-daemon" }

    /// Claims a store.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` that names the holding daemon; of a store code if the file cannot
    ///   be written.
    package init(store: String, _ holder: Holder) throws {
        let path = Self.path(store)
        let file: OpenFile
        do throws(SystemFailure) {
            file = try OpenFile(path, [.updating, .creating], mode: 0o640)
        } catch {
            throw Self.unwritable(path, error)
        }
        guard (try? file.claim()) == true else {
            let other = Self.holder(of: store)?.description ?? "another daemon"
            throw SluiceError(.storeBusy, "the store \(PlainText.line(store)) is held by \(other)")
        }
        var json: JSON = ["process": JSON(holder.process), "endpoint": JSON(holder.endpoint)]
        if let file = holder.configuration { json["configuration"] = JSON(file) }
        if let socket = holder.socket { json["socket"] = JSON(socket) }
        do throws(SystemFailure) {
            try file.truncate(to: 0)
            try file.write(json.bytes())
        } catch {
            throw Self.unwritable(path, error)
        }
        (self.file, self.path) = (file, path)
    }

    deinit { file.release() }

    /// Whether the locked file is still the one at the path.
    var isInPlace: Bool { file.isAt(path) }

    /// Returns the daemon that holds a store; nil if none does.
    package static func holder(of store: String) -> Holder? {
        // A free lock has no holder, even if the file still names a former daemon.
        guard let file = try? OpenFile(path(store)), file.isClaimed, let bytes = try? file.read(upTo: 4096),
            let json = try? JSON(parsing: bytes), let process = json["process"]?.int
        else { return nil }
        return Holder(
            process: Int(process), configuration: json["configuration"]?.string, socket: json["socket"]?.string,
            endpoint: json["endpoint"]?.string ?? "")
    }

    private static func unwritable(_ path: String, _ failure: SystemFailure) -> SluiceError {
        SluiceError(.storeInputOutput, "\(PlainText.line(path)) cannot be written: \(failure.reason)")
    }
}

/// The rule for files that the daemon makes: their folder is there, and may be written.
enum WritablePlace {
    /// - Parameter name: the setting that names the file.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    static func check(_ path: String, for name: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileStatus(folder)?.isFolder == true else {
            throw SluiceError(.invalidArgument, "\(name): there is no folder \(PlainText.line(folder))")
        }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw SluiceError(
                .invalidArgument,
                "\(name): the folder \(PlainText.line(folder)) cannot be written: \(SystemFailure.last("access").reason)"
            )
        }
    }
}
