internal import SluiceBase
internal import SluiceOData
internal import SluiceStores
internal import SluiceWire

/// The first answer of a server: without one there is nothing to look at.
enum FirstAnswer {
    /// Returns the fault that the error shows; nil for one that is about the way to the server or the access to it.
    static func code(of error: SluiceError, knowsModel: Bool) -> ProbeFinding.Code? {
        switch error.code {
        case .brokenProtocol where error.message.contains(ServerMessage.webPage): return .webPage
        case .brokenProtocol where error.status.map { 300..<400 ~= $0 } ?? false: return .redirects
        case .brokenProtocol, .tooLarge: return knowsModel ? .brokenAnswers : .metadataUnread
        case .serverFailure where error.status.map(AnswerStatus.isPassing) ?? false: return nil
        case .serverFailure: return error.status == 200 ? .errorBesideRows : .failing
        case .rejected, .unsupported: return knowsModel ? .orderIgnored : .metadataUnread
        case .invalidArgument where !knowsModel: return .metadataUnread
        default: return nil
        }
    }
}

extension ProbeSession {
    /// Returns the description of an OData service; nil where there is none to be read.
    func model(_ report: inout ProbeReport) async throws -> EdmModel? {
        guard isService else { return nil }
        let model: EdmModel
        do {
            model = try await client.metadata()
        } catch {
            try check(error)
            report.add("description", fact: "the service's $metadata cannot be read")
            return nil
        }
        report.add("description", fact: "the service describes \(model.sets.count.counted("set"))")
        return model
    }

    /// Returns the first page of the table; nil after a fault with which nothing more can be seen.
    ///
    /// - Throws: an error about the way to the server, the access to it, or the name of the table.
    func first(_ report: inout ProbeReport) async throws -> ProbePage? {
        let ordered = try await list { $0.includesDeleted = false }
        guard case .failure(let error) = ordered else { return try ordered.get() }
        guard let code = FirstAnswer.code(of: error, knowsModel: set != nil || !isService) else { throw error }
        report.add(code, error.message)
        return nil
    }
}

/// The observations about all exchanges of a probe.
struct WireSeen: ProbeObservation {
    private let seen: ProbeTransport.Seen
    private let isService: Bool
    private let bounds: ProbeBounds

    /// A token's times are compared with the machine's clock, usually with five minutes of tolerance.
    private static let mostSkew: Int64 = 300
    private static let slow = 5 * Timestamp.ticksPerSecond

    init(_ seen: ProbeTransport.Seen, isService: Bool, bounds: ProbeBounds) {
        (self.seen, self.isService, self.bounds) = (seen, isService, bounds)
    }

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        if seen.lacksDate { found.append(ProbeFinding(.clockMissing, "an answer has no Date")) }
        if let error = seen.clockError, error.magnitude > UInt64(Self.mostSkew) {
            found.append(
                ProbeFinding(.clockOff, "the server's clock and this machine's differ by \(error.magnitude) s"))
        }
        if seen.echoesCredentials {
            found.append(ProbeFinding(.credentialsEchoed, "an answer repeats the credentials of its request"))
        }
        if let link = seen.foreignLink {
            found.append(ProbeFinding(.linksElsewhere, "the link to a next page leads to another origin: \(link)"))
        }
        if let link = seen.circularLink {
            found.append(ProbeFinding(.linksCircle, "the link to the next page is the page's own: \(link)"))
        }
        if let link = seen.lostLink {
            found.append(ProbeFinding(.linksLost, "the link to the next page leads to no page of the table: \(link)"))
        }
        if let slowest = seen.slowest, slowest.ticks > Self.slow {
            found.append(
                ProbeFinding(.slow, "\(slowest.path) took \(slowest.ticks / Timestamp.ticksPerSecond) s to answer"))
        }
        return found
    }

    var facts: [(subject: String, text: String)] {
        var facts: [(String, String)] = []
        if let size = seen.batchOffer { facts.append(("batches", "the server announces \(size) changes in a request")) }
        if let error = seen.clockError {
            facts.append(("clock", "the server's differs from this machine's by \(error.magnitude) s"))
        }
        return facts
    }
}
