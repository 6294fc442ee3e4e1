internal import HTTPTypes
internal import NIOCore
internal import SluiceCore
internal import Synchronization

/// A bucket for each client, which fills with time and which requests take from.
///
/// The number of buckets is bounded: they are in two generations. When the young one is full it becomes the old one, and
/// what was old and has not come meanwhile is forgotten. A client that was forgotten has a full bucket.
final class RateLimiter: Sendable {
    /// Whom a request counts for.
    enum Client: Hashable, Sendable {
        /// The bytes of a user's name: two users whose names differ in the form of a letter are two.
        case user([UInt8])
        /// The bytes of an address: four, or the eight of an IPv6 network, since one machine has as many addresses in it
        /// as it likes.
        case address([UInt8])
        /// A peer without an address.
        case unknown
    }

    private struct Bucket {
        var tokens: Double
        var time: Timestamp
    }

    private struct Generations {
        var young: [Client: Bucket] = [:]
        var old: [Client: Bucket] = [:]
    }

    private let rules: BackendConfiguration.RateLimit
    private let addressField: HTTPField.Name?
    private let now: @Sendable () -> Timestamp
    private let buckets = Mutex(Generations())

    init(_ rules: BackendConfiguration.RateLimit, now: @escaping @Sendable () -> Timestamp) {
        self.rules = rules
        self.now = now
        addressField = rules.addressHeader.flatMap { HTTPField.Name($0) }
    }

    /// How many clients are remembered.
    var count: Int { buckets.withLock { $0.young.count + $0.old.count } }

    /// Takes what a request or a batch costs. One that costs more than a full bucket holds needs a full one, and its
    /// client owes the rest.
    ///
    /// - Parameter paid: what the client has paid for it already; it counts for it, and stays paid where it is refused.
    /// - Returns: nil, or in how many seconds it may come again; nothing is taken then.
    func take(_ cost: Int, paid: Int = 0, of client: Client) -> Int64? {
        let now = now()
        return buckets.withLock { buckets in
            var bucket = Self.bucket(of: client, &buckets) ?? Bucket(tokens: Double(rules.burst), time: now)
            // A clock that was set back fills nothing.
            let seconds = max(0, Double(now.ticks - bucket.time.ticks) / Double(Timestamp.ticksPerSecond))
            bucket.tokens = min(Double(rules.burst), bucket.tokens + seconds * Double(rules.requestsPerSecond))
            bucket.time = now
            let missing = Double(min(cost, rules.burst)) - bucket.tokens - Double(paid)
            // A bucket that has filled up to a hair counts as full: sums of fractions are not exact.
            let mayPass = missing <= 1e-6
            if mayPass { bucket.tokens -= Double(cost - paid) }
            buckets.young[client] = bucket
            if buckets.young.count * 2 > rules.clients {
                buckets.old = buckets.young
                buckets.young = [:]
            }
            // What is paid is gone by then.
            let wanted = missing + Double(paid)
            return mayPass ? nil : max(1, Int64(nearest: (wanted / Double(rules.requestsPerSecond)).rounded(.up)) ?? 1)
        }
    }

    /// Takes the client's bucket out of where it is.
    private static func bucket(of client: Client, _ buckets: inout Generations) -> Bucket? {
        buckets.young.removeValue(forKey: client) ?? buckets.old.removeValue(forKey: client)
    }

    /// Whom a request counts for: its user, else where it comes from.
    func client(_ head: HTTPRequest, user: String?, from address: SocketAddress?) -> Client {
        if let user { return .user(Array(user.utf8)) }
        if let addressField, let entry = head.headerFields[addressField]?.split(separator: ",").last,
            let named = NetworkAddress(entry)
        {
            return .address(Self.bytes(named))
        }
        return (address?.ipAddress).flatMap { NetworkAddress($0) }.map { .address(Self.bytes($0)) } ?? .unknown
    }

    /// The bytes of an address that are the client's.
    private static func bytes(_ address: NetworkAddress) -> [UInt8] { Array(address.bytes.prefix(8)) }
}

/// What a request is let in by: for a batch to pay for its parts.
struct Allowance: Sendable {
    let limiter: RateLimiter
    let client: RateLimiter.Client

    /// Pays for a request.
    ///
    /// - Throws: ``Refusal`` (429).
    func pay() throws(Refusal) { try Self.check(limiter.take(1, of: client)) }

    /// Pays for the parts of a batch, whose own request is paid for.
    ///
    /// - Throws: ``Refusal`` (429): nothing of the batch is carried out.
    func pay(parts: Int) throws(Refusal) {
        guard parts > 1 else { return }
        try Self.check(limiter.take(parts, paid: 1, of: client))
    }

    private static func check(_ wait: Int64?) throws(Refusal) {
        guard let wait else { return }
        var refusal = Refusal(.tooManyRequests, "too many requests; come again in \(wait) s")
        refusal.headers[.retryAfter] = String(wait)
        throw refusal
    }
}
