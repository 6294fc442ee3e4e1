public import SluiceCore

/// One way in which a server can be hostile: what it does, what a client of Sluice is doing meanwhile, and how that
/// has to end.
///
/// A case is a value. ``all`` are the ones that Sluice is held against; make your own for what your servers do:
///
/// ```swift
/// let halfPage = HostileCase(.framing, "half a page, then silence", .pull, .fails(.timeout)) { _ in
///     [.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{\"id\":"), .hold]
/// }
/// let report = try await HostileTrial(halfPage, transport: AsyncHTTPTransport()).run()
/// print(report.violations)
/// ```
public struct HostileCase: Sendable, Identifiable, CustomStringConvertible {
    /// What a server does with a request.
    public typealias Answer = @Sendable (HostileRequest) -> [HostileAct]

    /// What the case is about.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Answers that lead elsewhere.
        case redirects
        /// Addresses of next pages.
        case links
        /// Answers that are too much.
        case size
        /// Answers that take too long.
        case time
        /// Answers whose length is not what they say.
        case framing
        /// Header fields.
        case headers
        /// Answers that belong to no request, and what is no HTTP.
        case connections
        /// Bodies that are not the JSON they should be.
        case json
        /// Rows that are not what rows should be.
        case rows
        /// Ids.
        case ids
        /// Numbers.
        case numbers
        /// Times of change.
        case times
        /// Lists that never end, and pages that do not fit together.
        case paging
        /// Answers to changes.
        case changes
        /// Answers that say that somebody else was quicker.
        case conflicts
        /// Statuses that do not answer the request.
        case statuses
        /// Refusals for who asks, and for when.
        case refusals
        /// Answers to several changes at once.
        case batches
        /// Change tokens.
        case tokens
        /// Digests and lists of what there is.
        case reconciles
    }

    /// What the case is about.
    public let group: Group
    /// What the server does, in a few words.
    public let name: String
    /// What the client is doing.
    public let call: HostileCall
    /// How that has to end.
    public let outcome: HostileOutcome
    /// The limits that the client is given.
    public var limits: HostileLimits
    /// What the server does when a connection is made, before any request.
    public let greeting: [HostileAct]
    /// What the server does with a request.
    public let answer: Answer

    /// A case.
    public init(
        _ group: Group, _ name: String, _ call: HostileCall, _ outcome: HostileOutcome,
        limits: HostileLimits = HostileLimits(), greeting: [HostileAct] = [], answer: @escaping Answer
    ) {
        self.group = group
        self.name = name
        self.call = call
        self.outcome = outcome
        self.limits = limits
        self.greeting = greeting
        self.answer = answer
    }

    /// Group, call and name, which no two cases share: `redirects: 302 to another port (pull)`.
    public var id: String { "\(group.rawValue): \(name) (\(call.rawValue))" }
    /// As ``id``.
    public var description: String { id }

    /// All cases, group by group.
    public static let all: [HostileCase] =
        redirects + links + size + time + framing + headers + connections + json + rows + ids + numbers + times
        + paging + changes + conflicts + statuses + refusals + batches + tokens + reconciles
}

extension HostileCase {
    /// All cases as a table in Markdown, group by group: what the server does, what the client is doing, how it ends.
    public static var table: String {
        Group.allCases.map { group in
            let rows = all.filter { $0.group == group }.map { hostile in
                "| \(cell(hostile.name)) | \(hostile.call.rawValue) | \(cell(hostile.outcome.description)) |"
            }
            return """
                ### \(group.rawValue.prefix(1).uppercased())\(group.rawValue.dropFirst()) (\(rows.count))

                | the server | the client | the end |
                |---|---|---|
                \(rows.joined(separator: "\n"))
                """
        }.joined(separator: "\n\n") + "\n"
    }

    private static func cell(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("<", with: "&lt;")
            .replacing("*", with: "\\*")
    }
}

/// What a client is allowed in a case: small enough that a case is over soon.
public struct HostileLimits: Sendable, Hashable {
    /// The bounds of each exchange.
    public var exchange: SyncRequest.Limits
    /// How often a request is sent at the most.
    public var attempts: Int
    /// How many pages a pull may bring.
    public var pages: Int
    /// The most requests that the client may make in all.
    public var requests: Int
    /// The longest the client may take.
    public var duration: Duration
    /// How much memory the process may grow by at most, in bytes; nil where that is not looked at.
    public var memory: Int?

    /// Limits.
    public init(
        exchange: SyncRequest.Limits = SyncRequest.Limits(), attempts: Int = 2, pages: Int = 8, requests: Int = 12,
        duration: Duration = .seconds(20),
        memory: Int? = nil
    ) {
        self.exchange = exchange
        self.attempts = attempts
        self.pages = pages
        self.requests = requests
        self.duration = duration
        self.memory = memory
    }
}
