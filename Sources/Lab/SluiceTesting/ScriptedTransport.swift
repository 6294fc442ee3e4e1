internal import HTTPTypes
public import SluiceCore
internal import Synchronization

/// A transport that answers from a script and records the requests: for tests of filters and of code that sends
/// requests.
///
/// ```swift
/// let transport = ScriptedTransport([
///     .json(201, #"{"id":"1","version":"a"}"#), .failure(SluiceError(.network, "down")),
/// ])
/// let client = SluiceClient(endpoint: try Endpoint("http://example.net"), transport: transport)
/// ```
public final class ScriptedTransport: Transport {
    /// The result of one request.
    public enum Step: Sendable {
        /// The request is answered.
        case answer(SyncResponse)
        /// The request fails.
        case failure(any Error)
        /// The request is given to a function.
        case call(@Sendable (SyncRequest) async throws -> SyncResponse)

        /// Answers the request with a JSON text and header fields.
        public static func json(_ status: Int, _ text: String, _ fields: [String: String] = [:]) -> Step {
            .answer(.json(status, text, fields))
        }
    }

    private struct State {
        var steps: [Step]
        var requests: [SyncRequest] = []
    }
    private let state: Mutex<State>
    private let otherwise: Step

    /// Creates a transport that takes one step for each request, in order, and `otherwise` after the last step.
    public init(
        _ steps: [Step] = [], otherwise: Step = .failure(SluiceError(.network, "the script of the transport is over"))
    ) {
        state = Mutex(State(steps: steps))
        self.otherwise = otherwise
    }

    /// Creates a transport that answers every request by a function.
    public convenience init(_ answer: @escaping @Sendable (SyncRequest) async throws -> SyncResponse) {
        self.init([], otherwise: .call(answer))
    }

    /// The requests so far, in the order of their arrival.
    public var requests: [SyncRequest] { state.withLock { $0.requests } }

    /// Adds a step to the script.
    public func append(_ step: Step) { state.withLock { $0.steps.append(step) } }

    /// Takes the next step of the script.
    ///
    /// - Throws: the error of the step.
    public func send(_ request: SyncRequest) async throws -> SyncResponse {
        let step = state.withLock { state in
            state.requests.append(request)
            return state.steps.isEmpty ? otherwise : state.steps.removeFirst()
        }
        switch step {
        case .answer(let response): return response
        case .failure(let error): throw error
        case .call(let answer): return try await answer(request)
        }
    }
}

extension SyncResponse {
    /// Returns an answer with the text as its JSON body. Fields with a name that HTTP does not allow are left out.
    public static func json(_ status: Int, _ text: String, _ fields: [String: String] = [:]) -> SyncResponse {
        var head = HTTPResponse(status: .init(code: min(max(status, 0), 999)))
        head.headerFields[.contentType] = "application/json"
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        return SyncResponse(head, body: MessageBody(bytes: Array(text.utf8)))
    }
}
