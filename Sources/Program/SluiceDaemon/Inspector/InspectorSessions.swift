internal import HTTPTypes
internal import Sluice
internal import Synchronization

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
        let end = environment.now().advanced(by: Self.ticketTime)
        state.withLock { Self.add(Entry(secret: secret, end: end), to: &$0.tickets) }
        return secret
    }

    /// Redeems a ticket and returns the cookie's value; nil for a used, expired or unknown ticket.
    func signIn(_ ticket: String) -> String? {
        let now = environment.now()
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

    /// Whether a request comes from someone who is signed in.
    func admits(_ request: LocalRequest, cookie: String) -> Bool {
        let now = environment.now()
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
