import Foundation
import HTTPTypes
import SluiceBase
import SluiceSignOn
import SluiceWire
import Synchronization
import Testing

/// A server of tokens that keeps what it was asked, and gives its answers in turn, the last one for good.
final class TokenServer: Transport {
    let requests = Mutex<[SyncRequest]>([])
    private let answers: Mutex<[(Int, String)]>

    init(_ answers: (Int, String)...) { self.answers = Mutex(answers) }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        requests.withLock { $0.append(request) }
        let (status, body) = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        // A connection that broke.
        if status == 0 { throw SluiceError(.network, "gone") }
        return SyncResponse(HTTPResponse(status: .init(code: status)), body: MessageBody(bytes: Array(body.utf8)))
    }

    var forms: [String] { requests.withLock { $0.map { String(decoding: $0.body.bytes, as: UTF8.self) } } }
    var paths: [String] { requests.withLock { $0.map { "\($0.head.method.rawValue) \($0.head.path ?? "")" } } }
}

/// A clock that stands still, except for the pauses that are slept.
final class PausedClock: Sendable {
    private let time = Mutex(Timestamp("2026-05-06T07:08:09Z")!)
    let pauses = Mutex<[Duration]>([])

    var environment: SyncEnvironment {
        SyncEnvironment(
            now: { self.time.withLock { $0 } }, steady: { self.time.withLock { $0 } }, makeID: { "id-1" },
            sleep: { pause in
                self.pauses.withLock { $0.append(pause) }
                self.time.withLock { $0 = $0.advanced(by: pause) }
            })
    }
}

func write(_ text: String) throws -> String {
    let path = "/tmp/sluice-token-\(UUID().uuidString)"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
}
