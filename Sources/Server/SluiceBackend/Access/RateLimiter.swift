internal import HTTPTypes
internal import NIOCore
internal import SluiceCore
internal import Synchronization

/// A token bucket for each client: it fills with time, and requests take from it.
///
/// The number of buckets is bounded by two generations. A full young generation becomes the old one, and the buckets of
/// the previous old one are forgotten unless used since. A forgotten client starts with a full bucket.
final class RateLimiter: Sendable {
    /// The client that a request is counted for.
    enum Client: Hashable, Sendable {
        /// The bytes of a user's name: names that differ in the form of a letter are two users.
        case user([UInt8])
        /// The bytes of an address: four, or the eight of an IPv6 network, because a machine chooses its addresses in
        /// its network freely.
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

    /// The number of remembered clients.
    var count: Int { buckets.withLock { $0.young.count + $0.old.count } }

    /// Takes the cost of a request or a batch. A cost above the bucket's size needs a full bucket and leaves the client
    /// a debt.
    ///
    /// - Parameter paid: the part already paid; it counts towards the cost and is not refunded on refusal.
    /// - Returns: nil, or the seconds until the next try; then nothing is taken.
    func take(_ cost: Int, paid: Int = 0, of client: Client) -> Int64? {
        let now = now()
        return buckets.withLock { buckets in
            var bucket = Self.bucket(of: client, &buckets) ?? Bucket(tokens: Double(rules.burst), time: now)
            // A clock that was set back does not fill the bucket.
            let seconds = max(0, Double(now.ticks - bucket.time.ticks) / Double(Timestamp.ticksPerSecond))
            bucket.tokens = min(Double(rules.burst), bucket.tokens + seconds * Double(rules.requestsPerSecond))
            bucket.time = now
            let missing = Double(min(cost, rules.burst)) - bucket.tokens - Double(paid)
            // An almost full bucket counts as full, because sums of fractions are not exact.
            let mayPass = missing <= 1e-6
            if mayPass { bucket.tokens -= Double(cost - paid) }
            buckets.young[client] = bucket
            if buckets.young.count * 2 > rules.clients {
                buckets.old = buckets.young
                buckets.young = [:]
            }
            // The paid part has to be earned again by then.
            let wanted = missing + Double(paid)
            return mayPass ? nil : max(1, Int64(nearest: (wanted / Double(rules.requestsPerSecond)).rounded(.up)) ?? 1)
        }
    }

    /// Removes the client's bucket from its generation.
    private static func bucket(of client: Client, _ buckets: inout Generations) -> Bucket? {
        buckets.young.removeValue(forKey: client) ?? buckets.old.removeValue(forKey: client)
    }

    /// Returns the client of a request: its user, else its address.
    func client(_ head: HTTPRequest, user: String?, from address: SocketAddress?) -> Client {
        if let user { return .user(Array(user.utf8)) }
        if let addressField, let entry = head.headerFields[addressField]?.split(separator: ",").last,
            let named = NetworkAddress(entry)
        {
            return .address(Self.bytes(named))
        }
        return (address?.ipAddress).flatMap { NetworkAddress($0) }.map { .address(Self.bytes($0)) } ?? .unknown
    }

    /// Returns the bytes of an address that identify the client.
    private static func bytes(_ address: NetworkAddress) -> [UInt8] { Array(address.bytes.prefix(8)) }
}

/// The limit and the client of an admitted request, so that a batch can pay for its parts.
struct Allowance: Sendable {
    let limiter: RateLimiter
    let client: RateLimiter.Client

    /// Pays for a request.
    ///
    /// - Throws: ``Refusal`` (429).
    func pay() throws(Refusal) { try Self.check(limiter.take(1, of: client)) }

    /// Pays for the parts of a batch; its own request is paid for already.
    ///
    /// - Throws: ``Refusal`` (429): no part of the batch is executed.
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
