internal import Foundation
internal import HTTPTypes
internal import SluiceConfiguration
internal import SluiceCore

extension BackendConfiguration {
    /// How many requests each client may make: a bucket that fills by so many a second, and that each request takes one
    /// from. A request that finds it empty is answered with 429 and `Retry-After`.
    ///
    /// ```swift
    /// configuration.rateLimit = .init(requestsPerSecond: 20, burst: 100)
    /// ```
    ///
    /// A client is the user of the request's token, else the address that it comes from. A batch counts as many as it has
    /// parts. Each listener of a backend counts in the same buckets; each process has its own.
    public struct RateLimit: Sendable, Hashable {
        /// How many requests a second a client may make in the long run.
        public var requestsPerSecond: Int
        /// How many it may make at once.
        public var burst: Int
        /// The header field in which a proxy says where a request comes from, such as `X-Forwarded-For`; its last entry
        /// counts, which is the proxy's own. Nil where clients connect themselves: anyone can send such a field.
        public var addressHeader: String?
        /// How many clients are remembered. Of more, those that have not come for the longest time begin anew.
        public var clients: Int

        /// A limit.
        public init(requestsPerSecond: Int, burst: Int, addressHeader: String? = nil, clients: Int = 10_000) {
            self.requestsPerSecond = requestsPerSecond
            self.burst = burst
            self.addressHeader = addressHeader
            self.clients = clients
        }
    }

    /// What a listener takes of a client: sizes, and for how long it is waited for.
    ///
    /// ```swift
    /// configuration.limits.bodyBytes = 1 << 20
    /// configuration.limits.idleTime = .seconds(20)
    /// ```
    public struct Limits: Sendable, Hashable {
        /// The largest body, in bytes; a larger one is 413.
        public var bodyBytes = 4 << 20
        /// The most bytes of the records of one page; a record that is larger comes by itself.
        public var pageBytes = 4 << 20
        /// The most bytes of a request's address and header fields together; more is 431, and the connection ends.
        public var headBytes = 64 << 10
        /// The most header fields; more is 431, and the connection ends.
        public var headerFields = 100
        /// How many connections are held at once; further ones wait. Nil for what the process may open, less 100.
        public var connections: Int?
        /// For how long a connection may be without a request: from its begin, and from each answer, until the head of
        /// the next request is there. A little longer than clients keep connections for (60 s is usual), so that they are
        /// the ones who end it, and no request meets its end.
        public var idleTime: Duration = .seconds(75)
        /// How long a request may take from the end of its head to the end of its body.
        public var requestTime: Duration = .seconds(120)
        /// For how long a client may take nothing of an answer that waits for it.
        public var answerTime: Duration = .seconds(60)

        /// The limits of a backend that is told nothing else.
        public init() {}

        /// The connections that are held where the configuration says nothing: the process needs files besides.
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
