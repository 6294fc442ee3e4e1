internal import Sluice
internal import Synchronization

/// How large each store is, what waits in it and how far it is behind, every five seconds of the last hour.
final class Figures: Sendable {
    private struct Sample {
        var at: Timestamp
        var bytes: Int64
        var waiting: Int
        var held: Int
        /// Seconds since the pull that is longest ago, of those that are pulled; nil before the first.
        var lag: Double?
    }

    private static let interval = Duration.seconds(5)
    private static let most = 720

    private let environment: SyncEnvironment
    private let samples = Mutex<[String: [Sample]]>([:])

    init(environment: SyncEnvironment) { self.environment = environment }

    /// Looks until the task is cancelled.
    func follow(_ daemon: Daemon) async {
        repeat {
            let installations = await daemon.serving.installations
            let names = Set(installations.map(\.name))
            samples.withLock { samples in
                for name in samples.keys where !names.contains(name) { samples[name] = nil }
            }
            for installation in installations {
                guard let sample = await sample(installation) else { continue }
                samples.withLock { samples in
                    samples[installation.name, default: []].append(sample)
                    if samples[installation.name]?.count ?? 0 > Self.most { samples[installation.name]?.removeFirst() }
                }
            }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    private func sample(_ installation: Installation) async -> Sample? {
        guard let status = try? await installation.session.context.status(),
            let store = installation.session.settings.store
        else { return nil }
        let now = environment.now()
        let bytes = ["", "-wal"].reduce(into: Int64(0)) { $0 += Int64(clamping: FileState("\(store)\($1)")?.size ?? 0) }
        let pulled = status.cursors.compactMap(\.pulledAt).min()
        return Sample(
            at: now, bytes: bytes, waiting: status.pending + status.inFlight, held: status.needsAttention,
            lag: pulled.map { Double($0.duration(to: now).wholeNanoseconds) / 1e9 })
    }

    /// The samples of all endpoints, the oldest first.
    var json: JSON {
        let samples = samples.withLock { $0 }
        let endpoints = samples.keys.sorted().map { name -> JSON in
            [
                "endpoint": JSON(name),
                "samples": JSON(
                    (samples[name] ?? []).map { sample -> JSON in
                        [
                            "at": JSON(sample.at.description), "bytes": JSON(sample.bytes),
                            "waiting": JSON(sample.waiting), "held": JSON(sample.held),
                            "lag": sample.lag.map { JSON($0) } ?? .null,
                        ]
                    }),
            ]
        }
        return ["endpoints": JSON(endpoints)]
    }
}
