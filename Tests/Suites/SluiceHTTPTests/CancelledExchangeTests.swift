import AsyncHTTPClient
import HTTPTypes
import NIOCore
import SluiceCore
import Testing

@testable import SluiceHTTP

@Suite("An exchange of a task that is cancelled")
struct CancelledExchangeTests {
    private let errors = TransportErrors(
        SyncRequest(HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")))

    @Test("ends as cancelled, whatever reason the HTTP client names", arguments: [true, false])
    func whatever(_ isCancelled: Bool) async {
        let causes: [any Error] = [
            HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout, HTTPClientError.remoteConnectionClosed,
            ChannelError.eof,
        ]
        let errors = errors
        let task = Task {
            while isCancelled, !Task.isCancelled { await Task.yield() }
            return causes.flatMap { [errors.beforeHead($0).code, errors.insideBody($0).code] }
        }
        if isCancelled { task.cancel() }
        let codes = await task.value
        #expect(codes.allSatisfy { $0 == .cancelled } == isCancelled)
        #expect(isCancelled || codes.prefix(4).allSatisfy { $0 == .timeout })
    }
}
