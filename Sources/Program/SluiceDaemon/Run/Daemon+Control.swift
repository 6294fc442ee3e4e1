internal import Foundation
internal import Sluice
internal import SluiceLua
internal import SluiceService

extension Daemon {
    /// Returns the daemon's activity, its pending operations and its next runs.
    func status() async -> JSON {
        var endpoints = JSON.array
        let isStarting = serving.installations.isEmpty
        for installation in serving.installations { endpoints.append(await installation.status()) }
        for endpoint in isStarting ? serving.plan.endpoints : [] {
            var json = endpoint.json
            json["phase"] = "opening"
            endpoints.append(json)
        }
        var configuration: JSON = ["path": JSON(source.path), "loadedAt": JSON("\(serving.since)")]
        configuration["refused"] =
            refusal.map { ["message": JSON($0.message), "at": JSON("\($0.at)")] as JSON } ?? .null
        let state = isStarting ? "starting" : isDraining ? "draining" : isPaused ? "paused" : "running"
        return [
            "state": JSON(state), "process": JSON(Int(getpid())), "version": JSON(SluiceVersion.text),
            "startedAt": JSON("\(started)"), "configuration": configuration, "endpoints": endpoints,
        ]
    }

    /// Returns the metrics in Prometheus's text format.
    func metrics() -> String { PrometheusText.of(meters) }

    /// Runs all endpoints, or one, now, and waits for the end.
    func sync(_ name: String?) async throws -> JSON {
        guard !isPaused else {
            throw SluiceError(.operationRefused, "the daemon is paused; sluice ctl resume lets it go on")
        }
        let chosen = try chosen(name)
        var runs = JSON.array
        for installation in chosen {
            runs.append(
                try await serving(installation) { installation in
                    let run = try await installation.syncNow()
                    var json = installation.json(run)
                    json["failures"] = JSON(try await installation.failures(of: run))
                    return (json, isWhole: run.failure == nil)
                })
        }
        return ["runs": runs]
    }

    /// Does the work with an installation. If a reload, another user's token or another file replaces the installation
    /// before the work is whole, the work is done again with the next one.
    private func serving(
        _ installation: Installation, _ work: (Installation) async throws -> (JSON, isWhole: Bool)
    ) async throws -> JSON {
        var current = installation
        while true {
            let result: Result<(JSON, isWhole: Bool), any Error>
            do { result = .success(try await work(current)) } catch { result = .failure(error) }
            let next = serving.installation(current.name) ?? current
            guard next !== current, (try? result.get())?.isWhole != true else { return try result.get().0 }
            current = next
        }
    }

    /// Returns one record's story, with the decisions of plugins since they were loaded.
    func story(of id: RecordID, in table: String, _ name: String?) async throws -> JSON {
        guard let installation = try chosen(name).first else {
            throw SluiceError(.invalidArgument, "the configuration has no endpoint")
        }
        let session = installation.session
        let recent = await session.plugins?.decisions ?? []
        let written = try RecordStory.writtenDecisions(session.settings)
        return try await RecordStory.json(
            of: id, in: table, session.context, decisions: written.isEmpty ? recent : written)
    }

    private func chosen(_ name: String?) throws -> [Installation] {
        guard let name else { return serving.installations }
        guard let installation = serving.installation(name) else {
            throw SluiceError(.invalidArgument, "there is no endpoint \(name)")
        }
        return [installation]
    }

    /// Pauses or resumes all schedules. Runs in progress end normally.
    func pause(_ pauses: Bool) {
        isPaused = pauses
        isDraining = false
        for installation in serving.installations {
            installation.gate.isPaused = pauses
            // The schedule checks its gate only at an event, and a requested run is one.
            installation.service.scheduler.syncNow()
        }
        manager.status(pauses ? "paused" : "syncing")
    }

    /// Pushes the queues and pauses the schedules: no request is sent until `resume`. Operations that the server cannot
    /// accept now remain, and are counted.
    func drain() async throws -> JSON {
        isDraining = true
        defer { isDraining = false }
        manager.status("draining")
        var endpoints = JSON.array
        for installation in serving.installations {
            endpoints.append(
                try await serving(installation) { installation in
                    installation.gate.isPaused = true
                    let push = try await installation.session.context.push()
                    var json: JSON = ["endpoint": JSON(installation.name), "sent": JSON(push.applied)]
                    json["remaining"] = JSON(push.remaining)
                    json["error"] = push.failure.map { JSON(CommandText.reason($0)) } ?? .null
                    return (json, isWhole: push.failure == nil)
                })
        }
        isPaused = true
        // One that took another's place after its push was started without the pause.
        for installation in serving.installations { installation.gate.isPaused = true }
        manager.status("drained; sluice ctl resume lets it go on")
        return ["drained": endpoints]
    }
}

extension Installation {
    /// Returns the endpoint's activity and the state of its store's queue.
    func status() async -> JSON {
        var json = endpoint.json
        do {
            let status = try await session.context.status()
            json["phase"] = JSON(gate.isPaused && !status.phase.isAtWork ? "paused" : status.phase.word)
            if !gate.isPaused, case .waiting(let until) = status.phase { json["waitsUntil"] = JSON("\(until)") }
            json["queue"] = status.counts
        } catch {
            json["error"] = JSON(CommandText.reason(error))
        }
        json["lastRun"] = lastRun.map { self.json($0) } ?? .null
        json["lastSent"] = lastSent.map { self.json($0) } ?? .null
        if let plugins = session.plugins {
            let figures = await plugins.metrics
            json["plugins"] = [
                "names": JSON(plugins.names.map { JSON($0) }), "version": JSON(figures.setVersion),
                "errors": JSON(figures.errors.values.reduce(0, +)),
            ]
        }
        if let policy { json["policy"] = await policy.status }
        if let traffic { json["traffic"] = traffic.status }
        return json
    }

    /// A completed run.
    func json(_ run: SyncScheduler.Run) -> JSON {
        var json: JSON = [
            "endpoint": JSON(name), "startedAt": JSON("\(run.startedAt)"),
            "next": gate.isPaused ? .null : JSON("\(run.next)"),
            "sent": JSON(run.push?.applied ?? 0), "remaining": JSON(run.push?.remaining ?? 0),
            "ofOthers": JSON(run.push?.ofOthers ?? 0),
            "conflicts": JSON(run.push?.conflicts ?? 0),
            "stored": JSON(run.pulls.reduce(0) { $0 + $1.brought }),
            "deleted": JSON(run.pulls.reduce(0) { $0 + $1.removed }),
        ]
        json["failed"] = JSON(run.failures.count)
        json["error"] = run.failure.map { JSON(CommandText.reason($0)) } ?? .null
        return json
    }
}

extension ServingPlan.Endpoint {
    /// The configuration of the endpoint.
    fileprivate var json: JSON {
        [
            "name": JSON(name), "endpoint": JSON(client.endpoint ?? ""), "store": JSON(store),
            "dialect": JSON(client.dialect.name),
        ]
    }
}

extension SyncProgress.Phase {
    /// Whether a push or a pull is in progress.
    fileprivate var isAtWork: Bool { self == .pulling || self == .pushing }

    /// The name of the phase in the daemon's JSON.
    var word: String {
        switch self {
        case .idle: "idle"
        case .offline: "offline"
        case .pulling: "pulling"
        case .pushing: "pushing"
        case .waiting: "waiting"
        case .needsAttention: "needsAttention"
        }
    }
}
