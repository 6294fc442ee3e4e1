internal import Foundation
internal import HTTPTypes
internal import SluiceConfiguration
internal import SluiceCore

extension BackendConfiguration {
    /// The rate limit of each client: a bucket fills by a number of requests each second, and each request takes one.
    /// With an empty bucket the answer is 429 with `Retry-After`.
    ///
    /// ```swift
    /// configuration.rateLimit = .init(requestsPerSecond: 20, burst: 100)
    /// ```
    ///
    /// A client is the user of the request's token, else its address. A batch counts as the number of its parts. All
    /// listeners of a backend share the buckets; each process has its own.
    public struct RateLimit: Sendable, Hashable {
        /// The long-term number of requests per second of a client.
        public var requestsPerSecond: Int
        /// The number of requests that a client may make at once.
        public var burst: Int
        /// The header field in which a proxy names the client's address, such as `X-Forwarded-For`. Only the last entry
        /// counts, because the proxy itself has added it. Nil without a proxy, because any client can send such a
        /// field.
        public var addressHeader: String?
        /// The number of remembered clients. Beyond it the longest absent ones start with a full bucket again.
        public var clients: Int

        /// Creates a limit.
        public init(requestsPerSecond: Int, burst: Int, addressHeader: String? = nil, clients: Int = 10_000) {
            self.requestsPerSecond = requestsPerSecond
            self.burst = burst
            self.addressHeader = addressHeader
            self.clients = clients
        }
    }

    /// The limits of a listener on its clients: sizes and waiting times.
    ///
    /// ```swift
    /// configuration.limits.bodyBytes = 1 << 20
    /// configuration.limits.idleTime = .seconds(20)
    /// ```
    public struct Limits: Sendable, Hashable {
        /// The largest body, in bytes; a larger one is 413.
        public var bodyBytes = 4 << 20
        /// The most bytes of the records of one page; a larger record is a page of its own.
        public var pageBytes = 4 << 20
        /// The most bytes of a request's address and header fields together; more is 431, and the connection ends.
        public var headBytes = 64 << 10
        /// The most header fields; more is 431, and the connection ends.
        public var headerFields = 100
        /// The most connections at the same time; further ones wait. Nil means the process's file limit less 100.
        public var connections: Int?
        /// The longest time without a request: from a connection's start, and from each answer, to the complete head of
        /// the next request. It is a little longer than clients usually keep connections (60 s). So the client closes
        /// the connection, and no request is lost to the server's close.
        public var idleTime: Duration = .seconds(75)
        /// The longest time from the end of a request's head to the end of its body.
        public var requestTime: Duration = .seconds(120)
        /// The longest time in which a client reads nothing of a waiting answer.
        public var answerTime: Duration = .seconds(60)

        /// Creates the default limits.
        public init() {}

        /// The default number of connections; it leaves the process some descriptors for files.
        static var usualConnections: Int {
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 900 }
            return max(16, Int(clamping: limit.rlim_cur) - 100)
        }
    }
}

extension BackendConfiguration {
    /// Checks the limits of load.
    func checkLoad() throws(ConfigurationMistake) {
        if let rateLimit {
            try Self.check("requests", rateLimit.requestsPerSecond, 1...1_000_000, of: "rateLimit")
            try Self.check("burst", rateLimit.burst, 1...1_000_000, of: "rateLimit")
            try Self.check("clients", rateLimit.clients, 2...1_000_000, of: "rateLimit")
            if let name = rateLimit.addressHeader, HTTPField.Name(name) == nil {
                throw ConfigurationMistake(
                    reason: "addressHeader of rateLimit is the name of a header field, such as X-Forwarded-For",
                    key: "rateLimit")
            }
        }
        try Self.check("body", limits.bodyBytes, 1024...(64 << 20), of: "limits")
        try Self.check("page", limits.pageBytes, 1024...(64 << 20), of: "limits")
        try Self.check("head", limits.headBytes, 1024...(1 << 20), of: "limits")
        try Self.check("headerFields", limits.headerFields, 10...1000, of: "limits")
        try Self.check("connections", limits.connections ?? 1, 1...1_000_000, of: "limits")
        let times = [("idle", limits.idleTime), ("request", limits.requestTime), ("answer", limits.answerTime)]
        for (key, time) in times where time < .seconds(1) || time > .seconds(86_400) {
            throw ConfigurationMistake(reason: "\(key) of limits is 1 second to 1 day", key: "limits")
        }
    }

    private static func check(
        _ key: String, _ value: Int, _ range: ClosedRange<Int>, of section: String
    ) throws(ConfigurationMistake) {
        guard range.contains(value) else {
            throw ConfigurationMistake(
                reason: "\(key) of \(section) is \(range.lowerBound) to \(range.upperBound)", key: section)
        }
    }
}

extension ConfigurationReader {
    func rateLimit(_ node: ConfigurationNode) throws(SluiceError) -> BackendConfiguration.RateLimit {
        let members = try node.members(["requests", "burst", "addressHeader", "clients"])
        guard let requests = members["requests"], let burst = members["burst"] else {
            throw node.refusal("rateLimit has requests (a second) and burst, such as { requests: 20, burst: 100 }")
        }
        var limit = BackendConfiguration.RateLimit(
            requestsPerSecond: try requests.integer(), burst: try burst.integer())
        if let value = members["addressHeader"] { limit.addressHeader = try value.text() }
        if let value = members["clients"] { limit.clients = try value.integer() }
        return limit
    }

    func limits(_ node: ConfigurationNode) throws(SluiceError) -> BackendConfiguration.Limits {
        let members = try node.members(
            ["body", "page", "head", "headerFields", "connections", "idle", "request", "answer"])
        var limits = BackendConfiguration.Limits()
        if let value = members["body"] { limits.bodyBytes = try value.integer() }
        if let value = members["page"] { limits.pageBytes = try value.integer() }
        if let value = members["head"] { limits.headBytes = try value.integer() }
        if let value = members["headerFields"] { limits.headerFields = try value.integer() }
        if let value = members["connections"] { limits.connections = try value.integer() }
        if let value = members["idle"] { limits.idleTime = try TableReader.interval(value) }
        if let value = members["request"] { limits.requestTime = try TableReader.interval(value) }
        if let value = members["answer"] { limits.answerTime = try TableReader.interval(value) }
        return limits
    }
}
