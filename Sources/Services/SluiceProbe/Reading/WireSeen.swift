internal import SluiceBase

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
