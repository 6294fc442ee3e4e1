internal import HTTPTypes
package import Sluice

/// Looks at the server: whether it answers, what it thinks of the credentials, and how its clock differs from ours.
package struct ServerExamination: Sendable {
    /// A token's times are compared with the machine's clock, usually with five minutes of tolerance.
    private static let mostSkew = Duration.seconds(300)
    /// `Date` has whole seconds, and the answer was under way for some time.
    private static let quietSkew = Duration.seconds(5)

    private let client: SluiceClient
    private let environment: SyncEnvironment

    package init(_ client: SluiceClient, _ environment: SyncEnvironment = .system) {
        (self.client, self.environment) = (client, environment)
    }

    /// Asks for one row of the query.
    package func findings(_ query: Query) async -> [Finding] {
        var query = query
        (query.top, query.skip) = (1, 0)
        do {
            let request = try client.dialect.list(table: query.table, query: query, endpoint: client.endpoint)
            let asked = environment.now()
            let response = try await client.send(request)
            let arrived = environment.now()
            var findings = [answer(response, request, query.table)]
            if let date = response.head.headerFields[.date].flatMap({ HTTPDate.timestamp($0) }) {
                findings.append(Self.clock(date, asked, arrived))
            } else {
                findings.append(
                    Finding(.server, "clock", .warning, "the server sends no Date, so its clock cannot be compared"))
            }
            return findings
        } catch {
            return [Self.failure(error, query.table)]
        }
    }

    private func answer(_ response: Response, _ request: Request, _ table: String) -> Finding {
        if let failure = client.dialect.failure(response, for: request.context) { return Self.failure(failure, table) }
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

    /// What keeps the server from answering, and what to do about it.
    static func failure(_ error: any Error, _ table: String) -> Finding {
        let text = CommandText.reason(error)
        let code = (error as? SluiceError)?.code
        switch code {
        case .unauthorized, .forbidden:
            return Finding(
                .access, "server", .fault, text, advice: "renew the token, or give the user access to \(table)")
        case .network, .timeout, .cancelled:
            return Finding(
                .network, "server", .fault, text,
                advice: "see whether the server runs and the address of `endpoint` is right; changes wait until then")
        case .notFound:
            return Finding(
                .server, "server", .fault, text, advice: "the server has no table \(table): see its name and `dialect`")
        default:
            return Finding(.server, "server", .fault, text, advice: "see the server's log")
        }
    }
}
