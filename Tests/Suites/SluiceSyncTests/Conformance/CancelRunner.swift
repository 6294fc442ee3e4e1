import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// Runs a cancel row: one insert waits, the server has a row more, and the task is cancelled at the row's moment.
struct CancelRunner {
    private let operation: String
    private let push: Int
    private let pull: Int
    private let moment: Moment

    private enum Moment: String {
        case before = "before the request is sent"
        case inFlight = "while the request is in flight"
        case after = "while handling the response"
        case beforePush = "before the implied push request"
        case afterPush = "after the push response"
        case beforePull = "before the pull request"
        case afterPull = "after the pull response"
        case done = "in the completion callback"
        case pushStart = "right after push returns its operation"
        case pullStart = "right after pull returns its operation"
    }

    init(_ input: JSON) throws {
        guard let moment = input["cancel"]?.string.flatMap(Moment.init) else {
            throw SluiceError(.invalidArgument, "no such moment: \(input)")
        }
        self.moment = moment
        operation = input["op"]?.string ?? ""
        push = Int((input["push_server"] ?? input["server"])?.int ?? 200)
        pull = Int(input["pull_server"]?.int ?? 200)
    }

    func observe() async throws -> JSON {
        let server = ModelServer()
        let cancellation = Cancellation()
        let device = try await CaseDevice(
            transport: CancellingTransport(server: server, cancellation: cancellation, cancels: moment == .inFlight),
            filters: [CancellingFilter(cancellation: cancellation, cancels: cancels)])
        if operation == "pull" { server.seed("todos", [["id": "id2", "text": "server"]]) }
        try await device.table.insert(["id": "id1", "text": "local"])
        server.onRequest { [push, pull] request in
            let status = request.isWrite ? push : pull
            return status == 200 ? .none : .answer(.model(status, nil))
        }
        var observed: JSON = ["end": JSON(try await run(device, cancellation))]
        let waiting = try await Set(device.operations().map(\.recordID))
        observed["synced_rows"] = JSON(try await device.ids().filter { !waiting.contains(RecordID($0)) }.count)
        observed["ops_after"] = JSON(waiting.count)
        server.onRequest(nil)
        let again = try await device.context.push()
        if operation == "pull" { try await device.table.pull() }
        let live = server.rows("todos").keys.map(\.text).sorted()
        let ids = try await device.ids()
        observed["later"] = JSON(again.isClean && again.conflicts == 0 && ids == live ? "synced" : "\(again) \(ids)")
        return observed
    }

    /// Whether to cancel now, on the way of that request down or of its answer up.
    private func cancels(_ request: SyncRequest, _ isAnswered: Bool) -> Bool {
        switch moment {
        case .before, .beforePush: request.isWrite && !isAnswered
        case .after, .afterPush: request.isWrite && isAnswered
        case .beforePull: !request.isWrite && !isAnswered
        case .afterPull: !request.isWrite && isAnswered
        case .inFlight, .done, .pushStart, .pullStart: false
        }
    }

    /// Runs the push or pull in a task of its own, and says how it ended.
    private func run(_ device: CaseDevice, _ cancellation: Cancellation) async throws -> String {
        let isStarted = AsyncStream.makeStream(of: Void.self)
        let task = Task { [operation] in
            for await _ in isStarted.stream { break }
            do {
                if operation == "push" { return try await device.context.push().end.description }
                try await device.table.pull()
                return "completed"
            } catch let error as SluiceError {
                return error.code.description
            }
        }
        cancellation.set { task.cancel() }
        if moment == .pushStart || moment == .pullStart { task.cancel() }
        isStarted.continuation.yield()
        let end = try await task.value
        if moment == .done { task.cancel() }
        return end
    }
}

/// What cancels the task, known only once the task is there.
private final class Cancellation: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }
    func callAsFunction() { action.withLock { $0 }?() }
}

private struct CancellingFilter: RequestFilter {
    let cancellation: Cancellation
    let cancels: @Sendable (SyncRequest, _ isAnswered: Bool) -> Bool

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        if cancels(request, false) { cancellation() }
        let response = try await next(request)
        if cancels(request, true) { cancellation() }
        return response
    }
}

/// Sends nothing for a cancelled task, as a real transport does; may cancel it with the request under way, and then
/// answers all the same, too late.
private struct CancellingTransport: Transport {
    let server: ModelServer
    let cancellation: Cancellation
    let cancels: Bool

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        try Task.checkCancellation()
        guard cancels, request.isWrite else { return try await server.send(request) }
        cancellation()
        let response = try await server.send(request)
        await Task.detached { try? await Task.sleep(for: .milliseconds(200)) }.value
        return response
    }
}
