import HTTPTypes
import NIOCore
import SluiceCore
import Synchronization
import Testing

@testable import SluiceBackend
@testable import SluiceBase

/// A clock that is set by hand.
final class TestClock: Sendable {
    private let ticks = Mutex(BackendFixture.now.ticks)
    var now: Timestamp { Timestamp(ticks: ticks.withLock { $0 }) }
    func advance(seconds: Double) {
        ticks.withLock { $0 += Int64(nearest: seconds * Double(Timestamp.ticksPerSecond)) ?? 0 }
    }
}

@Suite struct RateLimiterTests {
    private let clock = TestClock()
    private let ann = RateLimiter.Client.user(Array("ann".utf8))
    private let bob = RateLimiter.Client.user(Array("bob".utf8))

    private func limiter(_ requests: Int, burst: Int, clients: Int = 100, header: String? = nil) -> RateLimiter {
        RateLimiter(
            .init(requestsPerSecond: requests, burst: burst, addressHeader: header, clients: clients),
            now: { [clock] in clock.now })
    }

    @Test("a burst passes, then as many as the bucket fills by; the others are told when to come again")
    func burst() {
        let limiter = limiter(2, burst: 5)
        for _ in 0..<5 { #expect(limiter.take(1, of: ann) == nil) }
        #expect(limiter.take(1, of: ann) == 1)
        // Who is refused pays nothing, and nobody pays for another.
        #expect(limiter.take(1, of: ann) == 1)
        #expect(limiter.take(1, of: bob) == nil)
        clock.advance(seconds: 0.5)
        #expect(limiter.take(1, of: ann) == nil)
        #expect(limiter.take(1, of: ann) == 1)
        clock.advance(seconds: 1000)
        for _ in 0..<5 { #expect(limiter.take(1, of: ann) == nil) }
        #expect(limiter.take(1, of: ann) == 1)
    }

    @Test("in ten minutes of asking all the time, as many pass as the rate says")
    func rate() {
        let limiter = limiter(7, burst: 20)
        var passed = 0
        for _ in 0..<6000 {
            for _ in 0..<3 where limiter.take(1, of: ann) == nil { passed += 1 }
            clock.advance(seconds: 0.1)
        }
        #expect((4200...4220).contains(passed))
    }

    @Test("a batch pays for its parts; one that is larger than the burst needs a full bucket and owes the rest")
    func batches() {
        let limiter = limiter(10, burst: 20)
        #expect(limiter.take(1, of: ann) == nil)
        #expect(limiter.take(15, paid: 1, of: ann) == nil)
        // Five are left, of which the next batch pays one.
        #expect(limiter.take(1, of: ann) == nil)
        #expect(limiter.take(11, paid: 1, of: ann) == 1)
        clock.advance(seconds: 10)
        #expect(limiter.take(1, of: ann) == nil)
        #expect(limiter.take(100, paid: 1, of: ann) == nil)
        #expect(limiter.take(1, of: ann) == 9)
        clock.advance(seconds: 9)
        #expect(limiter.take(1, of: ann) == nil)
    }

    @Test("what the answer says is enough", arguments: [(1, 1), (3, 7), (100, 5), (7, 100)])
    func waits(requests: Int, burst: Int) {
        let limiter = limiter(requests, burst: burst)
        for cost in [1, 2, 50, 100] {
            for _ in 0..<200 {
                guard limiter.take(1, of: ann) == nil, let wait = limiter.take(cost, paid: 1, of: ann) else { continue }
                clock.advance(seconds: Double(wait))
                #expect(limiter.take(1, of: ann) == nil)
                #expect(limiter.take(cost, paid: 1, of: ann) == nil)
            }
        }
    }

    @Test("a clock that is set back fills nothing, and takes nothing")
    func clockSetBack() {
        let limiter = limiter(1, burst: 2)
        #expect(limiter.take(1, of: ann) == nil)
        clock.advance(seconds: -3600)
        #expect(limiter.take(1, of: ann) == nil)
        #expect(limiter.take(1, of: ann) == 1)
        clock.advance(seconds: 1)
        #expect(limiter.take(1, of: ann) == nil)
    }

    @Test(
        "however many clients come, a bounded number of buckets is kept, and one that comes all the time keeps its own")
    func bounded() {
        let limiter = limiter(1, burst: 3, clients: 64)
        for _ in 0..<3 { #expect(limiter.take(1, of: ann) == nil) }
        for number in 0..<10_000 {
            _ = limiter.take(1, of: .user(Array("\(number)".utf8)))
            if number % 16 == 0 { #expect(limiter.take(1, of: ann) == 1) }
            #expect(limiter.count <= 64)
        }
    }

    @Test("a client is its user, else its address, else what the proxy says: the last of the field")
    func clients() throws {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
        let (plain, proxied) = (limiter(1, burst: 1), limiter(1, burst: 1, header: "X-Forwarded-For"))
        let address = try SocketAddress(ipAddress: "10.1.2.3", port: 4711)
        #expect(plain.client(head, user: "ann", from: address) == ann)
        #expect(plain.client(head, user: nil, from: address) == .address([10, 1, 2, 3]))
        #expect(plain.client(head, user: nil, from: nil) == .unknown)
        // Two forms of one letter are two users.
        #expect(
            plain.client(head, user: "\u{e9}", from: address) != plain.client(head, user: "e\u{301}", from: address))
        func proxy(_ text: String, _ limiter: RateLimiter) throws -> RateLimiter.Client {
            var head = head
            head.headerFields[try #require(HTTPField.Name("X-Forwarded-For"))] = text
            return limiter.client(head, user: nil, from: address)
        }
        #expect(try proxy("1.1.1.1", plain) == .address([10, 1, 2, 3]))
        #expect(try proxy("1.1.1.1, 10.9.8.7", proxied) == .address([10, 9, 8, 7]))
        #expect(try proxy("whatever", proxied) == .address([10, 1, 2, 3]))
        #expect(proxied.client(head, user: nil, from: address) == .address([10, 1, 2, 3]))
        // The machines of one IPv6 network are one client.
        #expect(try proxy("2001:db8:0:1::1", proxied) == proxy("2001:db8:0:1:ffff::2", proxied))
        #expect(try proxy("2001:db8:0:1::1", proxied) != proxy("2001:db8:0:2::1", proxied))
        #expect(try proxy("::ffff:10.9.8.7", proxied) == .address([10, 9, 8, 7]))
    }
}
