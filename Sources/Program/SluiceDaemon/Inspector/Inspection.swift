internal import HTTPTypes
internal import Sluice
internal import Synchronization

/// The inspector's state for the lifetime of the daemon, across reloads: sessions, exchanges, and figures over time.
final class Inspection: Sendable {
    let sessions = InspectorSessions(environment: .system)
    let timeline: Timeline
    let figures = Figures(environment: .system)
    /// Whether the inspector only reads.
    let isReadOnly: Bool
    private let listening = Mutex<Int?>(nil)

    init(_ values: SettingValues) {
        timeline = Timeline(environment: .system, hasBodies: values.flag("inspector.bodies"))
        isReadOnly = values.flag("inspector.read-only")
    }

    /// The inspector's port; nil before it listens.
    var port: Int? {
        get { listening.withLock { $0 } }
        set { listening.withLock { $0 = newValue } }
    }

    /// Returns an address that signs in the first visitor, within ten minutes.
    ///
    /// - Throws: ``SluiceError`` of code `network` before there is a port.
    func address() throws -> String {
        guard let port else { throw SluiceError(.network, "the inspector does not listen yet") }
        return "http://127.0.0.1:\(port)/inspector/?token=\(sessions.ticket())"
    }
}

/// The size, the waiting operations and the delay of each store, every five seconds of the last hour.
final class Figures: Sendable {
    private struct Sample: Encodable {
        var at: Timestamp
        var bytes: Int64
        var waiting: Int
        var held: Int
        /// Seconds since the oldest of the queries' latest pulls; nil before the first pull.
        var lag: Double?
    }

    private static let interval = Duration.seconds(5)
    private static let most = 720

    private let environment: SyncEnvironment
    private let samples = Mutex<[String: [Sample]]>([:])

    init(environment: SyncEnvironment) { self.environment = environment }

    /// Takes samples until the task is cancelled.
    func follow(_ daemon: any Inspected) async {
        repeat {
            let endpoints = await daemon.endpoints
            let names = Set(endpoints.map(\.name))
            samples.withLock { samples in
                for name in samples.keys where !names.contains(name) { samples[name] = nil }
            }
            for endpoint in endpoints {
                guard let sample = await sample(endpoint) else { continue }
                samples.withLock { samples in
                    samples[endpoint.name, default: []].append(sample)
                    if samples[endpoint.name]?.count ?? 0 > Self.most { samples[endpoint.name]?.removeFirst() }
                }
            }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    private func sample(_ endpoint: InspectedEndpoint) async -> Sample? {
        guard let status = try? await endpoint.session.context.status(),
            let store = endpoint.session.settings.store
        else { return nil }
        let now = environment.now()
        let bytes = ["", "-wal"].reduce(into: Int64(0)) { $0 += Int64(FileStatus("\(store)\($1)")?.size ?? 0) }
        let pulled = status.cursors.compactMap(\.pulledAt).min()
        return Sample(
            at: now, bytes: bytes, waiting: status.pending + status.inFlight, held: status.needsAttention,
            lag: pulled.map { Double($0.duration(to: now).wholeNanoseconds) / 1e9 })
    }

    /// The samples of all endpoints, the oldest first.
    var json: JSON {
        let samples = samples.withLock { $0 }
        let endpoints = samples.keys.sorted().map { name -> JSON in
            ["endpoint": JSON(name), "samples": JSON(printing: samples[name] ?? [])]
        }
        return ["endpoints": JSON(endpoints)]
    }
}

/// The tickets and sessions of the inspector. A ticket in an address signs in once; then a cookie identifies the
/// browser.
final class InspectorSessions: Sendable {
    private static let ticketTime = Duration.seconds(600)
    private static let sessionTime = Duration.seconds(12 * 3600)
    /// The most tickets, and the most sessions; the oldest is removed first.
    private static let most = 16

    private struct Entry {
        var secret: String
        var end: Timestamp
    }

    private struct State {
        var tickets: [Entry] = []
        var sessions: [Entry] = []
    }

    private let environment: SyncEnvironment
    private let state = Mutex(State())

    init(environment: SyncEnvironment) { self.environment = environment }

    /// Returns a new ticket.
    func ticket() -> String {
        let secret = Self.secret()
        let end = environment.steady().advanced(by: Self.ticketTime)
        state.withLock { Self.add(Entry(secret: secret, end: end), to: &$0.tickets) }
        return secret
    }

    /// Redeems a ticket and returns the cookie's value; nil for a used, expired or unknown ticket.
    func signIn(_ ticket: String) -> String? {
        let now = environment.steady()
        let secret = Self.secret()
        let end = now.advanced(by: Self.sessionTime)
        return state.withLock { state in
            guard let index = state.tickets.firstIndex(where: { LocalGuard.isEqual($0.secret, ticket) }) else {
                return nil
            }
            let found = state.tickets.remove(at: index)
            guard found.end > now else { return nil }
            Self.add(Entry(secret: secret, end: end), to: &state.sessions)
            return secret
        }
    }

    /// Begins a session for someone who has shown another secret, and returns the cookie's value.
    func begin() -> String {
        let secret = Self.secret()
        let end = environment.steady().advanced(by: Self.sessionTime)
        state.withLock { Self.add(Entry(secret: secret, end: end), to: &$0.sessions) }
        return secret
    }

    /// Whether a request comes from someone who is signed in.
    func admits(_ request: LocalRequest, cookie: String) -> Bool {
        let now = environment.steady()
        let given = request.head.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap {
            pair -> String? in
            let text = pair.drop { $0 == " " }
            return text.hasPrefix("\(cookie)=") ? String(text.dropFirst(cookie.utf8.count + 1)) : nil
        }
        return state.withLock { state in
            state.sessions.contains { session in
                session.end > now && given.contains { LocalGuard.isEqual($0, session.secret) }
            }
        }
    }

    private static func add(_ entry: Entry, to list: inout [Entry]) {
        list.append(entry)
        if list.count > most { list.removeFirst() }
    }

    /// Returns 256 random bits from the system in hexadecimal digits.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let text = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }
}
