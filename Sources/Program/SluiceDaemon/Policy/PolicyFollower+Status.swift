internal import HTTPTypes
internal import Logging
internal import Sluice
internal import SluiceLua
internal import SluicePolicy

extension PolicyFollower {
    /// The longest pause after a failed attempt.
    private static let longestPause = Duration.seconds(60)

    /// Reports the device's row: after an event soon, else once in a while. In a table it travels with the sync, and a row
    /// that still waits is one operation however often it changes.
    func tell() async {
        guard let target = settings.status else { return }
        let look = Duration.seconds(2)
        var pause = look
        var told: (at: ContinuousClock.Instant, events: Int)?
        var failure: String?
        while !Task.isCancelled {
            let isNew = told.map { $0.events != eventCount || $0.at.duration(to: .now) >= settings.statusEvery } ?? true
            if isNew {
                let (events, now) = (eventCount, SyncEnvironment.system.now())
                let report = row(at: now)
                do {
                    try await send(report, to: target, at: now)
                    (told, failure, pause) = ((.now, events), nil, look)
                } catch {
                    if Task.isCancelled { return }
                    // It goes once store or server take it again, and is said once.
                    let reason = CommandText.reason(error)
                    if reason != failure { logger.warning("the policy's status cannot be reported: \(reason)") }
                    (failure, pause) = (reason, min(pause * 2, Self.longestPause))
                }
            }
            // Devices whose server was away do not come back all at once.
            let spread = pause == look ? .zero : pause * Int.random(in: 0...100) / 100
            guard (try? await Task.sleep(for: pause + spread)) != nil else { return }
        }
    }

    /// - Throws: ``SluiceError`` of the store, or for a server that does not take the row.
    private func send(_ row: JSON, to target: PolicySettings.StatusTarget, at now: Timestamp) async throws {
        switch target {
        case .table(let table):
            try await write(row, to: table)
            budget.note(row, at: now)
        case .url(let url, let tokenFile):
            // A failed attempt has cost its bytes too.
            budget.note(row, at: now)
            try await StatusUpload(url, tokenFile: tokenFile).send(row, over: subject.transport)
        }
    }

    /// Returns the device's row: whole within the bytes of the day, else short.
    private func row(at now: Timestamp) -> JSON {
        let decisions = settings.statusDecisions > 0 ? newestDecisions : nil
        let isBounded = settings.statusDailyBytes != nil
        let whole = PolicyReport.row(
            device.state, device.name, at: now, decisions: decisions, isShort: isBounded ? false : nil)
        if budget.admits(whole, at: now) { return whole }
        return PolicyReport.row(device.state, device.name, at: now, decisions: decisions, isShort: true)
    }

    private var newestDecisions: [PluginDecision] {
        let logs = (try? subject.settings.decisionLogs()) ?? []
        return NewestDecisions.of(logs, count: settings.statusDecisions)
    }

    private func write(_ row: JSON, to table: String) async throws {
        guard let context = subject.context else { return }
        // Only this device writes its row: after a reinstallation the one of before is in the way.
        for held in try await context.queue.operations(.init(table: table)) where held.isHeldConflict {
            try await context.queue.resolve(held.id, .client)
        }
        _ = try await context.table(table).upsert(row)
    }
}

/// Sends a device's row to a web server: one `POST` of a JSON document, whose `id` is the device's.
struct StatusUpload: Sendable {
    private static let limit = Duration.seconds(60)

    private let endpoint: Endpoint
    private let path: String
    private let tokenFile: String?

    /// - Throws: ``SluiceError`` of code `invalidArgument` for an address that is none.
    init(_ url: String, tokenFile: String?) throws(SluiceError) {
        (endpoint, path) = try PolicyDownload.parts(url)
        self.tokenFile = tokenFile
    }

    /// Sends the row. The token is read each time, so that a file that is replaced counts from then on.
    ///
    /// - Throws: ``SluiceError`` for an unusable token, for a server that cannot be reached, and for any answer but 2xx.
    func send(_ row: JSON, over transport: any Transport) async throws {
        var head = HTTPRequest(method: .post, scheme: endpoint.scheme, authority: endpoint.authority, path: path)
        head.headerFields[.contentType] = "application/json"
        if let tokenFile {
            let token = try await FileToken(source: .file(tokenFile)).token()
            head.headerFields[.authorization] = token.map { "Bearer \($0)" }
        }
        var context = SyncRequest.Context()
        context.limits.responseBytes = 1 << 20
        context.limits.deadline = Self.limit
        let response = try await transport.send(
            SyncRequest(head, body: MessageBody(bytes: row.bytes()), context: context))
        guard (200..<300).contains(response.status) else {
            throw SluiceError(
                .serverFailure, "the server of the status answered \(response.status)", status: response.status)
        }
    }
}
