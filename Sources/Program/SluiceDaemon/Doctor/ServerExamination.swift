internal import HTTPTypes
package import Sluice

/// Examines the server: its answer, its response to the credentials, and the difference of its clock from ours.
package struct ServerExamination: Sendable {
    /// A token's times are compared with the machine's clock, usually with five minutes of tolerance.
    private static let mostSkew = Duration.seconds(300)
    /// `Date` has whole seconds, and the answer took some time to arrive.
    private static let quietSkew = Duration.seconds(5)

    private let client: SluiceClient
    private let environment: SyncEnvironment

    package init(_ client: SluiceClient, _ environment: SyncEnvironment = .system) {
        (self.client, self.environment) = (client, environment)
    }

    /// Requests one row of the query; without a query, the server's address itself.
    package func findings(_ query: TableQuery?) async -> [Finding] {
        let table = query?.table
        do {
            let request = try request(query)
            let asked = environment.now()
            let response = try await client.send(request)
            let arrived = environment.now()
            var findings = [try answer(response, request, table)]
            if let date = response.head.headerFields[.date].flatMap({ HTTPDate.timestamp($0) }) {
                findings.append(Self.clock(date, asked, arrived))
            } else {
                findings.append(
                    Finding(.server, "clock", .warning, "the server sends no Date, so its clock cannot be compared"))
            }
            return findings
        } catch {
            return [Self.failure(error, table)]
        }
    }

    private func request(_ query: TableQuery?) throws -> SyncRequest {
        guard var query else {
            let endpoint = client.endpoint
            return SyncRequest(
                HTTPRequest(
                    method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: endpoint.target([])))
        }
        (query.top, query.skip) = (1, 0)
        return try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
    }

    private func answer(_ response: SyncResponse, _ request: SyncRequest, _ table: String?) throws -> Finding {
        let failure = client.dialect.failure(response, for: request.context)
        guard let table else {
            // Many servers have no resource at their address itself; a 404 proves that they answer.
            if let failure, [.unauthorized, .forbidden, .serverFailure].contains(failure.code) {
                return Self.failure(failure, nil)
            }
            return Finding(.server, "server", .good, "answers at its address; no table is known to ask for")
        }
        if let failure { return Self.failure(failure, table) }
        // A login page has a good status too.
        _ = try client.dialect.page(in: response, for: request.context, requiresIDs: false, setsAside: true)
        return Finding(.server, "server", .good, "answers for \(table) with \(client.dialect.name)")
    }

    private static func clock(_ date: Timestamp, _ asked: Timestamp, _ arrived: Timestamp) -> Finding {
        // The server's second began somewhere between these two.
        let ahead = arrived.duration(to: date)
        let late = (date.duration(to: asked)) - .seconds(1)
        let skew = max(ahead, late)
        let word = ahead > late ? "ahead of" : "late against"
        guard skew > quietSkew else {
            return Finding(.machine, "clock", .good, "the server's clock and this machine's agree within seconds")
        }
        let text = "the server's clock is \(skew.components.seconds) s \(word) this machine's"
        return Finding(
            .machine, "clock", skew > mostSkew ? .fault : .warning, text,
            advice: "set this machine's clock (timedatectl set-ntp true), or have the server's looked at")
    }

    /// The finding for a failed request, with advice.
    static func failure(_ error: any Error, _ table: String?) -> Finding {
        let text = CommandText.reason(error)
        let code = (error as? SluiceError)?.code
        switch code {
        case .unauthorized, .forbidden:
            return Finding(
                .access, "server", .fault, text,
                advice: "renew the token, or give the user access\(table.map { " to \($0)" } ?? "")")
        case .network, .timeout, .cancelled:
            return Finding(
                .network, "server", .fault, text,
                advice: "see whether the server runs and the address of `endpoint` is right; changes wait until then")
        case .serverFailure? where ((error as? SluiceError)?.status).map(AnswerStatus.isPassing) ?? false:
            return Finding(
                .network, "server", .fault, text, advice: "the server is busy, or away behind its gateway; changes wait"
            )
        case .notFound:
            return Finding(
                .server, "server", .fault, text,
                advice: "the server has no table \(table ?? ""): see its name and `dialect`")
        default:
            return Finding(.server, "server", .fault, text, advice: "see the server's log")
        }
    }
}
