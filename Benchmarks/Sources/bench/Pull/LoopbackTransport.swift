internal import HTTPTypes
internal import SluiceCore
internal import Synchronization

/// Answers the k-th request with the k-th page file, and every request after the last page with an empty page.
final class LoopbackTransport: Transport {
    private let directory: String
    private let requests = Mutex(0)

    init(directory: String) { self.directory = directory }

    func send(_ request: Request) async throws -> Response {
        let number = requests.withLock { count in
            defer { count += 1 }
            return count
        }
        let page = try File.read("\(directory)/\(number).json") ?? Array("[]".utf8)
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "application/json; charset=utf-8"
        head.headerFields[.date] = "Sat, 01 Jan 2028 00:00:00 GMT"
        return Response(head, body: Body(bytes: page))
    }
}
