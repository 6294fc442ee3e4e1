public import SluiceBase
public import SluiceSync
internal import SluiceWire

/// The result of a probe.
public struct ProbeReport: Sendable, JSONPrinted {
    /// An observation that is no fault.
    public struct Fact: Sendable, Hashable, JSONPrinted {
        /// The examined thing: `pull`, `times`, `batches`.
        public let subject: String
        /// The observation in one sentence.
        public let text: String
    }

    /// The server's address, without credentials.
    public let endpoint: String
    /// The wire's name.
    public let dialect: String
    /// The table that was read.
    public let table: String
    /// The table that was written to; nil if none was.
    public let scratch: String?
    /// The means by which a pull follows the table's changes; nil where that was not found out.
    public internal(set) var grade: PullResult.Grade?
    /// The faults, the worst first.
    public private(set) var findings: [ProbeFinding] = []
    /// The observations that are no faults.
    public private(set) var facts: [Fact] = []
    /// The settings that suit the server, as lines of `sync.yaml`.
    public var settings: [String] { proposal.lines }
    /// The number of requests on the wire.
    public internal(set) var requests = 0
    /// The settings found out so far.
    var proposal: ProbeSettings

    private enum CodingKeys: String, CodingKey {
        case endpoint, dialect, table, scratch, grade, findings, facts, requests
    }

    init(endpoint: Endpoint, dialect: Dialect, options: ProbeOptions) {
        self.endpoint = endpoint.identity
        self.dialect = dialect.name
        table = options.table
        scratch = options.scratch
        proposal = ProbeSettings(endpoint: endpoint.identity, dialect: dialect.name, table: options.table)
    }

    /// The worst grade; nil without a finding.
    public var worst: ProbeFinding.Grade? {
        findings.contains { $0.grade == .fault } ? .fault : findings.first?.grade
    }

    /// Adds a finding; of one kind the first stays, and none is added that follows from another.
    mutating func add(_ code: ProbeFinding.Code, _ seen: String) { add(ProbeFinding(code, seen)) }

    mutating func add(_ finding: ProbeFinding) {
        guard !findings.contains(where: { $0.code == finding.code || $0.code.implied.contains(finding.code) }) else {
            return
        }
        let place = finding.grade == .fault ? findings.prefix { $0.grade == .fault }.count : findings.count
        findings.insert(finding, at: place)
    }

    mutating func add(_ subject: String, fact text: String) {
        facts.append(Fact(subject: subject, text: ProbeFinding.line(text)))
    }

    /// Adds the findings and facts of an observation.
    mutating func add(_ seen: some ProbeObservation) {
        for finding in seen.findings { add(finding) }
        for fact in seen.facts { add(fact.subject, fact: fact.text) }
    }
}

/// The observation of a part of a probe: a value, judged without another request.
protocol ProbeObservation {
    /// The faults that the observation shows.
    var findings: [ProbeFinding] { get }
    /// The rest.
    var facts: [(subject: String, text: String)] { get }
}

extension ProbeObservation {
    var facts: [(subject: String, text: String)] { [] }
}

/// The settings that a probe proposes, as the configuration reads them.
struct ProbeSettings: Sendable {
    let endpoint: String
    let dialect: String
    let table: String
    /// The number of changes in one request; nil to leave it to the server.
    var batch: Int?
    var pageSize: Int?
    /// The members of `odata`, in their order.
    var service: [(name: String, value: String)] = []
    /// The members of the table's `odata`.
    var set: [(name: String, value: String)] = []

    var lines: [String] {
        var lines = ["endpoint: \(Self.quoted(endpoint))", "dialect: \(dialect)"]
        if let batch { lines.append("batch: \(batch)") }
        if let pageSize { lines.append("limits: { page-size: \(pageSize) }") }
        if !service.isEmpty { lines.append("odata: \(Self.mapping(service))") }
        lines += ["tables:", "  \(Self.quoted(table)):" + (set.isEmpty ? " {}" : "")]
        if !set.isEmpty { lines.append("    odata: \(Self.mapping(set))") }
        return lines
    }

    private static func mapping(_ members: [(name: String, value: String)]) -> String {
        "{ \(members.map { "\($0.name): \($0.value)" }.joined(separator: ", ")) }"
    }

    /// Returns the text as YAML reads it back: JSON's string is one of YAML's.
    static func quoted(_ text: String) -> String {
        let isPlain =
            text.first?.isLetter == true
            && text.unicodeScalars.allSatisfy {
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:".unicodeScalars.contains($0)
            }
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
            && !text.hasSuffix(":")
        return isPlain ? text : JSON(text).description
    }
}
