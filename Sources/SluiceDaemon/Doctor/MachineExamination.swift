internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// Looks at what the store stands on: its disk, and who may read its files.
package struct MachineExamination: Sendable {
    /// Below so much free space the next write may fail; SQLite's log alone may grow to a few MiB.
    private static let leastFree: UInt64 = 16 << 20

    private let settings: ClientSettings

    package init(_ settings: ClientSettings) { self.settings = settings }

    package func findings() throws -> [Finding] {
        let store = try settings.requireStore()
        return [Self.disk(of: store), Self.folder(of: store)]
            + privateFiles(store).map { Self.mode(of: $0.path, $0.name) }
    }

    /// The files that nobody except their owner should read.
    private func privateFiles(_ store: String) -> [(name: String, path: String)] {
        var files = [("store", store)]
        switch settings.storeKey {
        case .keyFile(let path), .passphraseFile(let path): files.append(("key", path))
        case .key, .passphrase, nil: break
        }
        if case .fixed(let token) = settings.token, case .file(let path) = token.source {
            files.append(("token", path))
        }
        if case .file(let path) = settings.applicationKey { files.append(("application key", path)) }
        return files
    }

    private static func disk(of store: String) -> Finding {
        var disk = statvfs()
        guard statvfs(folderPath(store), &disk) == 0 else {
            return Finding(.machine, "disk", .fault, "the store's folder cannot be looked at: \(reason)")
        }
        let free = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        let bytes = free.overflow ? UInt64.max : free.partialValue
        let used = [store, "\(store)-wal"].reduce(0 as UInt64) { $0 + size($1) }
        let text = "\(mebibytes(bytes)) free, the store has \(mebibytes(used))"
        guard bytes >= leastFree else {
            return Finding(
                .machine, "disk", .fault, text, advice: "free some space: writes fail once there is none")
        }
        guard bytes >= used, disk.f_favail > 100 || disk.f_files == 0 else {
            return Finding(
                .machine, "disk", .warning, text,
                advice: "free some space: a backup or a compaction needs as much again as the store has")
        }
        return Finding(.machine, "disk", .good, text)
    }

    private static func folder(of store: String) -> Finding {
        guard access(folderPath(store), W_OK | X_OK) == 0, access(store, R_OK | W_OK) == 0 else {
            return Finding(
                .store, "permissions", .fault, "this user cannot write the store or its folder: \(reason)",
                advice: "run as the user that owns \(PlainText.line(store)), or chown it and its folder")
        }
        return Finding(.store, "permissions", .good, "this user may write the store")
    }

    private static func mode(of path: String, _ name: String) -> Finding {
        guard let mode = attribute(.posixPermissions, of: path)?.intValue else {
            return Finding(.machine, "\(name) file", .fault, "\(PlainText.line(path)) cannot be looked at")
        }
        guard mode & 0o077 == 0 else {
            return Finding(
                .machine, "\(name) file", .warning,
                "\(PlainText.line(path)) has mode \(String(mode & 0o777, radix: 8)): others may get at it",
                advice: "chmod 600 '\(PlainText.line(path))'")
        }
        return Finding(.machine, "\(name) file", .good, "its owner alone may read it")
    }

    private static func folderPath(_ store: String) -> String {
        let folder = (store as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    private static func size(_ path: String) -> UInt64 { attribute(.size, of: path)?.uint64Value ?? 0 }

    private static func attribute(_ key: FileAttributeKey, of path: String) -> NSNumber? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[key] as? NSNumber
    }

    private static func mebibytes(_ bytes: UInt64) -> String {
        bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
