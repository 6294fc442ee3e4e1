internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// Answers the k-th request for a page with the k-th page file, and every request after the last page with an empty page.
/// A page does not begin with the row that the client knows, as a server's would; so the client looks that row up once,
/// and does not find it.
final class LoopbackTransport: Transport {
    private let directory: String
    private let requests = Mutex(0)

    init(directory: String) { self.directory = directory }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let isLookup = request.head.path?.contains("(id%20eq%20") ?? false
        let number = requests.withLock { count in
            defer { count += isLookup ? 0 : 1 }
            return isLookup ? -1 : count
        }
        let page = try File.read("\(directory)/\(number).json") ?? Array("[]".utf8)
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "application/json; charset=utf-8"
        head.headerFields[.date] = "Sat, 01 Jan 2028 00:00:00 GMT"
        return SyncResponse(head, body: MessageBody(bytes: page))
    }
}
