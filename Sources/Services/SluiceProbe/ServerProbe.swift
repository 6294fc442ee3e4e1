internal import HTTPTypes
internal import SluiceBase
internal import SluiceOData
internal import SluiceSync
public import SluiceWire

/// An examination of a server before anyone trusts it with data.
///
/// It asks a table the questions that a pull asks, and judges the answers with the engine's own checks. It reads only,
/// unless it is given a scratch table: there it makes, changes and deletes rows of its own, whose ids begin with
/// `sluice-probe-` where the key allows it.
///
/// ```swift
/// var options = ProbeOptions(table: "movies")
/// options.scratch = "probes"
/// let probe = ServerProbe(endpoint: endpoint, dialect: .azureV2, transport: AsyncHTTPTransport(), options: options)
/// let report = try await probe.run()
/// for finding in report.findings { print(finding.code, finding.seen) }
/// ```
public struct ServerProbe: Sendable {
    private let endpoint: Endpoint
    private let dialect: Dialect
    private let transport: any Transport
    private let filters: [any RequestFilter]
    private let client: ClientOptions
    private let options: ProbeOptions

    /// A probe.
    ///
    /// - Parameters:
    ///   - transport: the way to the server.
    ///   - filters: the application's filters, as its client has them.
    ///   - client: the options of the application's client, with its credentials. Requests are not repeated, and none
    ///     takes longer than 20 s.
    public init(
        endpoint: Endpoint, dialect: Dialect = .azureV2, transport: any Transport, filters: [any RequestFilter] = [],
        client: ClientOptions = ClientOptions(), options: ProbeOptions
    ) {
        self.endpoint = endpoint
        self.dialect = dialect
        self.transport = transport
        self.filters = filters
        var client = client
        client.retry = .never
        client.limits.deadline = min(client.limits.deadline, .seconds(20))
        self.client = client
        self.options = options
    }

    /// Examines the server.
    ///
    /// - Throws: ``SluiceError`` where nothing can be seen: of code `network`, `timeout`, `unauthorized`, `forbidden`
    ///   or `notFound` for the first answer, `invalidTable`, and `CancellationError`. The rows that the probe has made
    ///   are deleted in any case.
    public func run() async throws -> ProbeReport {
        for table in [options.table, options.scratch ?? options.table] { try SyncTables.validate(table) }
        let wire = ProbeTransport(
            transport, endpoint: endpoint, bounds: options.bounds, mayWrite: options.scratch != nil,
            isService: dialect.adapter != nil, environment: client.environment)
        let session = ProbeSession(
            client: SluiceClient(
                endpoint: endpoint, dialect: dialect, transport: wire,
                filters: filters + [ScratchGuard(table: options.scratch)], options: client),
            wire: wire, table: options.table, options: options, environment: client.environment)
        var report = ProbeReport(endpoint: endpoint, dialect: dialect, options: options)
        do {
            try await look(session, &report)
        } catch let error as SluiceError where wire.isOver {
            report.add(.incomplete, "\(error.message) after \(wire.seen.requests.counted("request"))")
        }
        report.requests = wire.seen.requests
        report.add(WireSeen(wire.seen, isService: session.isService, bounds: options.bounds))
        return report
    }

    private func look(_ session: ProbeSession, _ report: inout ProbeReport) async throws {
        var session = session
        let model = try await session.model(&report)
        session.set = try? model?.entitySet(session.table)
        guard let first = try await session.first(&report) else { return }
        let scratch = try options.scratch.map { name in
            session.turned(to: name, try model?.entitySet(name))
        }
        if session.table == scratch?.table, let scratch {
            // The rows of the probe are there while it reads.
            try await ScratchRun.during(scratch, model, &report) { report in
                let first = try await session.first(&report) ?? first
                try await read(session, first, &report)
            }
        } else {
            try await read(session, first, &report)
            if let scratch { try await ScratchRun.during(scratch, model, &report) { _ in } }
        }
    }

    private func read(_ session: ProbeSession, _ first: ProbePage, _ report: inout ProbeReport) async throws {
        let rows = try await session.rows(first, &report)
        try await session.lists(rows, &report)
        try await session.pages(&report)
        try await session.tags(rows, &report)
        try await session.pull(rows, &report)
        try await session.times(&report)
    }
}

/// Keeps changes of a probe to its scratch table.
private struct ScratchGuard: RequestTransform {
    let table: String?

    func request(_ request: SyncRequest) throws -> SyncRequest {
        let isRead = [.read, .lookup].contains(request.context.action) || request.head.method == .get
        guard isRead || (table != nil && request.context.table == table) else {
            throw SluiceError(.operationRefused, "the probe was not told to write there", table: request.context.table)
        }
        return request
    }
}
