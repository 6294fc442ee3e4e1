public import SluiceCore
internal import Synchronization

/// A transport that answers from a script and remembers what it was asked: for tests of filters and of whatever sends
/// requests.
///
/// ```swift
/// let transport = ScriptedTransport([
///     .json(201, #"{"id":"1","version":"a"}"#), .failure(SluiceError(.network, "down")),
/// ])
/// let client = SluiceClient(endpoint: try Endpoint("http://example.net"), transport: transport)
/// ```
public final class ScriptedTransport: Transport {
    /// What happens to one request.
    public enum Step: Sendable {
        /// It is answered.
        case answer(Response)
        /// It fails.
        case failure(any Error)
        /// It is given to a function.
        case call(@Sendable (Request) async throws -> Response)

        /// It is answered with a JSON text and header fields.
        public static func json(_ status: Int, _ text: String, _ fields: [String: String] = [:]) -> Step {
            .answer(.json(status, text, fields))
        }
    }

    private struct State {
        var steps: [Step]
        var requests: [Request] = []
    }
    private let state: Mutex<State>
    private let otherwise: Step

    /// Takes one step for each request, in order, and `otherwise` for each one more.
    public init(
        _ steps: [Step] = [], otherwise: Step = .failure(SluiceError(.network, "the script of the transport is over"))
    ) {
        state = Mutex(State(steps: steps))
        self.otherwise = otherwise
    }

    /// Answers every request by a function.
    public convenience init(_ answer: @escaping @Sendable (Request) async throws -> Response) {
        self.init([], otherwise: .call(answer))
    }

    /// The requests so far, in the order in which they came.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// Adds a step to the script.
    public func append(_ step: Step) { state.withLock { $0.steps.append(step) } }

    /// Takes the next step of the script.
    ///
    /// - Throws: what the step says.
    public func send(_ request: Request) async throws -> Response {
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
