import Sluice
import Testing

@testable import SluiceCLI

/// The test library has an `ExitStatus` too.
private typealias Status = SluiceCLI.ExitStatus

@Suite struct ExitStatusTests {
    @Test(
        "each error has its exit code",
        arguments: [
            (SluiceError.Code.network, Status.network), (.timeout, .network), (.unauthorized, .unauthorized),
            (.forbidden, .unauthorized), (.conflict, .attention), (.preconditionFailed, .attention),
            (.aborted, .attention), (.operationsPending, .attention), (.storeBusy, .store), (.storeFull, .store),
            (.storeCorrupt, .store), (.storeNotADatabase, .store), (.storeSchema, .store), (.storeClosed, .store),
            (.storeInputOutput, .store), (.brokenProtocol, .brokenProtocol), (.tooLarge, .brokenProtocol),
            (.serverFailure, .brokenProtocol), (.notFound, .usage), (.rejected, .usage), (.invalidQuery, .usage),
            (.invalidRecord, .usage), (.invalidTable, .usage), (.invalidArgument, .usage), (.recordExists, .usage),
            (.recordMissing, .usage), (.operationRefused, .usage), (.maybeApplied, .attention),
        ])
    fileprivate func codes(_ code: SluiceError.Code, _ status: Status) {
        #expect(Status(SluiceError(code, "")) == status)
    }

    @Test(
        "a server that has no time, or that a gateway or proxy does not let through to, is no network",
        arguments: [407, 408, 425, 429, 502, 503, 504, 507, 511])
    func gateway(_ status: Int) {
        #expect(SluiceError.Code(status: status) == .serverFailure)
        #expect(Status(SluiceError(.serverFailure, "", status: status)) == .network)
        #expect(Status(failures: [("serverFailure", status), ("network", nil)]) == .network)
        #expect(Status(failures: [("serverFailure", status), ("serverFailure", 500)]) == .attention)
    }

    @Test("a filter's error counts by its cause")
    func filter() {
        let cause = SluiceError(.unauthorized, "")
        #expect(Status(SluiceError(.filter, "", cause: cause)) == .unauthorized)
        #expect(Status(SluiceError(.filter, "")) == .brokenProtocol)
    }

    @Test("a failure is one line with its table, record and status")
    func line() {
        let failure = CommandFailure(
            SluiceError(.rejected, "the server\nsays no", table: "notes", recordID: "n\u{1B}1", status: 400))
        #expect(failure.line == "sluice: the server says no (table notes, record n 1, status 400)")
        #expect(failure.json["record"] == "n\u{1B}1")
    }

    @Test("the first failure decides the exit code")
    func first() {
        var outcome = Outcome(json: .object, text: [])
        outcome.add(CommandFailure(.attention, "a", ""))
        outcome.add(CommandFailure(.network, "b", ""))
        #expect(outcome.status == .attention)
    }
}
