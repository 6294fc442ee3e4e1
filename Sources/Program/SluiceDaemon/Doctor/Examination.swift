internal import Foundation
internal import Sluice
internal import SluiceConfiguration

/// The whole examination of one endpoint: its machine, its store, its queue, its server, and whether store and server
/// hold the same rows. It reads only.
package enum Examination {
    /// The most ids in one line.
    private static let mostNamed = 5

    /// Returns all findings; a failure on the way, such as an unreachable server, is a finding too.
    package static func findings(_ settings: ClientSettings) async throws -> [Finding] {
        let path = try settings.requireStore()
        var findings = [versions(settings)]
        findings += try MachineExamination(settings).findings()
        findings += await daemon(path)
        let usesNetwork = settings.endpoint != nil
        do {
            findings += try await ClientSession.run(settings, usesNetwork: usesNetwork, asksPlugins: usesNetwork) {
                session in
                try await self.findings(session)
            }
        } catch {
            let area: Finding.Area = (error as? SluiceError)?.code.isStore == true ? .store : .machine
            findings.append(
                Finding(
                    area, "session", .fault, CommandText.reason(error),
                    advice: area == .store ? "see what sluice store check says" : "mend the configuration"))
        }
        return findings
    }

    private static func findings(_ session: ClientSession) async throws -> [Finding] {
        let context = session.context
        var findings = try await queue(context)
        guard let client = context.client else {
            return findings + [
                Finding(.network, "server", .warning, "there is no endpoint, so the rows were compared with nothing")
            ]
        }
        let server = ServerExamination(client)
        let cursors = try await context.status().cursors
        let queries = session.settings.pulls.map(\.query) + tables(cursors, besides: session.settings)
        let queued = try await context.queue.operations(skip: 0, top: 1).map { TableQuery($0.table) }
        let held = try await context.store.read { try $0.tables().map(\.name) }
        let other = held.first { !$0.hasPrefix("sluice_") }.map { [TableQuery($0)] } ?? []
        let answers = await server.findings((queries + queued + other).first)
        if queries.isEmpty { findings.append(nothingToCompare(cursors)) }
        findings += answers
        if answers.contains(where: { $0.grade == .fault && $0.area != .machine }) { return findings }
        for query in queries {
            do {
                findings.append(rows(query, try await context.comparison(of: query)))
            } catch {
                findings.append(ServerExamination.failure(error, query.table))
            }
        }
        return findings
    }

    /// Reports that the rows of a program's own queries cannot be compared: the store knows only their names.
    private static func nothingToCompare(_ cursors: [SyncStatus.CursorStatus]) -> Finding {
        let named = cursors.prefix(mostNamed).map { "\($0.name) of \($0.table)" }.joined(separator: ", ")
        return cursors.isEmpty
            ? Finding(.server, "rows", .warning, "nothing was pulled from there, so no rows can be compared")
            : Finding(
                .server, "rows", .warning, "pulled by names whose filters are not known here (\(named)): not compared",
                advice: "sluice reconcile TABLE compares a table's rows, with --filter those of a query")
    }

    /// The tables that a command pulled whole, although the configuration does not list them.
    private static func tables(_ cursors: [SyncStatus.CursorStatus], besides settings: ClientSettings) -> [TableQuery] {
        let known = Set(settings.pulls.map(\.query.table))
        let pulled = Set(cursors.filter { $0.name == ClientSettings.queryName }.map(\.table))
        return pulled.subtracting(known).sorted().map { TableQuery($0) }
    }

    private static func rows(_ query: TableQuery, _ result: RowComparison) -> Finding {
        let subject = "rows of \(query.table)"
        let how = result.usedDigest ? "by digests of ranges" : "by a list of all ids and versions"
        let waiting = result.waiting > 0 ? "; \(result.waiting.counted("row")) differ, as their changes wait" : ""
        guard !result.isEqual else {
            return Finding(
                .server, subject, .good,
                "\(result.compared.counted("row")) compared \(how): store and server are equal\(waiting)")
        }
        let parts = [
            (result.missing, "missing here"), (result.old, "of another version"),
            (result.extra, "unknown to the server"),
        ].compactMap { ids, words -> String? in
            guard !ids.isEmpty else { return nil }
            let names = ids.sorted().prefix(mostNamed).map { "\($0)" }.joined(separator: ", ")
            return "\(ids.count.counted("row")) \(words) (\(names)\(ids.count > mostNamed ? ", …" : ""))"
        }
        return Finding(
            .server, subject, .fault, parts.joined(separator: ", ") + waiting,
            advice: "sluice sync brings what is new; what stays different: sluice reconcile \(query.table)")
    }

    private static func queue(_ context: SyncContext) async throws -> [Finding] {
        let status = try await context.status()
        let held = status.parked + status.dead
        var findings = [
            held == 0
                ? Finding(
                    .queue, "queue", .good,
                    "\((status.pending + status.inFlight).counted("change")) waiting, none held"
                )
                : Finding(
                    .queue, "queue", .fault, "\(held.counted("change")) held for a decision",
                    advice:
                        "sluice queue list\(status.dead == 0 ? " --state parked" : status.parked == 0 ? " --state dead" : "")"
                        + "; then sluice queue retry, resolve or discard")
        ]
        if status.ofOthers > 0 {
            findings.append(
                Finding(
                    .queue, "other users", .warning,
                    "\(status.ofOthers.counted("change")) of another user or credential, which this user's sync does not send",
                    advice: "sync with that user's credential, or sluice queue take; name the user with --user"))
        }
        let quarantined = try await context.quarantine().count
        if quarantined > 0 {
            findings.append(
                Finding(
                    .server, "quarantine", .warning,
                    "\(quarantined.counted("row")) of the server's could not be stored",
                    advice: "sluice quarantine list"))
        }
        return findings
    }

    private static func versions(_ settings: ClientSettings) -> Finding {
        Finding(.machine, "versions", .good, "sluice \(SluiceVersion.text), dialect \(settings.dialect.name)")
    }

    /// Whether the daemon that holds the store is of this version and serves the configuration as it is.
    private static func daemon(_ store: String) async -> [Finding] {
        guard let holder = StoreHold.holder(of: store), let socket = holder.socket else { return [] }
        do {
            let status = try await ControlClient(socket: socket).ask("status", method: "GET", limit: .seconds(10))
            if let refused = status["configuration"]?["refused"], refused != .null {
                return [
                    Finding(
                        .machine, "daemon", .fault,
                        "its configuration was refused: \(refused["message"]?.string ?? "")",
                        advice: "mend the file; the configuration from before serves until then")
                ]
            }
            let version = status["version"]?.string ?? ""
            guard version == SluiceVersion.text else {
                return [
                    Finding(
                        .machine, "daemon", .warning,
                        "it is of version \(version), this program of \(SluiceVersion.text)",
                        advice: "restart the daemon")
                ]
            }
            return [Finding(.machine, "daemon", .good, "process \(holder.process) is \(status["state"]?.string ?? "")")]
        } catch {
            return [
                Finding(
                    .machine, "daemon", .fault, "\(holder.description) does not answer: \(CommandText.reason(error))",
                    advice: "see its log, or restart it")
            ]
        }
    }
}

/// Examines the store's disk and the permissions of its files.
package struct MachineExamination: Sendable {
    /// Below so much free space the next write may fail; SQLite's log alone may grow to a few MiB.
    private static let leastFree: UInt64 = 16 << 20

    private let settings: ClientSettings

    package init(_ settings: ClientSettings) { self.settings = settings }

    package func findings() throws -> [Finding] {
        let store = try settings.requireStore()
        return [Self.disk(of: store), Self.folder(of: store)] + StoreFileNames.logsOfReplaced(store).map(Self.log)
            + privateFiles(store).map { Self.mode(of: $0.path, $0.name) }
    }

    /// The files that only their owner should read.
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

    /// Reports a log that was set aside.
    private static func log(_ name: String) -> Finding {
        Finding(
            .store, "log", .warning,
            "another file was put in the place of the store; the former one's last changes are in \(PlainText.line(name))",
            advice: "put it beside the former file, as that file's name and -wal, or remove it")
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
