internal import Sluice

/// The codes that the process ends with: the contract with scripts.
enum ExitStatus: Int32 {
    /// Done.
    case done = 0
    /// A fault: the copies of `demo` are not equal. It is in Sluice itself; or in a plugin that `plugin` has checked or
    /// tested.
    case fault = 1
    /// The command, its arguments or its configuration cannot be carried out as they are.
    case usage = 2
    /// The server could not be reached, or not in time.
    case network = 3
    /// The server does not accept the credentials.
    case unauthorized = 4
    /// Conflicts or failed operations remain in the queue.
    case attention = 5
    /// The local store failed.
    case store = 6
    /// The server broke the protocol.
    case brokenProtocol = 7
    /// The command's output was not written completely: the disk is full, or the reader is gone.
    case output = 8

    /// The rank from failures that pass by themselves to those that need help most.
    private var severity: Int {
        switch self {
        case .done: 0
        case .network: 1
        case .attention: 2
        case .brokenProtocol: 3
        case .output: 4
        case .unauthorized: 5
        case .usage: 6
        case .store: 7
        case .fault: 8
        }
    }

    /// Returns the worse of two.
    func worse(_ other: ExitStatus) -> ExitStatus { other.severity > severity ? other : self }

    /// Returns the code for an error. Errors in the user's own text (JSON, query, YAML) are usage.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure.status
        case let error as SluiceError: self.init(error)
        case is StreamFailure: self = .output
        default: self = .usage
        }
    }

    private init(_ error: SluiceError) {
        switch error.code {
        case .network, .timeout, .cancelled: self = .network
        // A gateway answers so when the server behind it is unavailable; a server, when it is busy.
        case .serverFailure where error.status.map(AnswerStatus.isPassing) ?? false: self = .network
        case .unauthorized, .forbidden: self = .unauthorized
        case .conflict, .preconditionFailed, .aborted, .operationsPending, .removalsHeld, .maybeApplied:
            self = .attention
        case .brokenProtocol, .tooLarge, .limitReached, .serverFailure: self = .brokenProtocol
        case .filter: self = (error.cause as? SluiceError).map { ExitStatus($0) } ?? .brokenProtocol
        case let code where code.isStore: self = .store
        default: self = .usage
        }
    }

    /// Returns the code for the end of a push, whatever was in the queue before it.
    init(_ push: PushResult) {
        switch push.end {
        case .completed: self = ExitStatus(failures: push.failures.map { ($0.failure?.code ?? "", $0.failure?.status) })
        case .network, .cancelled: self = .network
        case .unauthorized: self = .unauthorized
        case .store: self = .store
        case .aborted: self = .attention
        default: self = push.error.map { ExitStatus($0) } ?? .attention
        }
    }

    /// Returns the common cause of failures outside of the queue; for several causes, `attention`.
    init(failures: [(code: String, status: Int?)]) {
        let causes = failures.map { code, status -> ExitStatus in
            switch SluiceError.Code(code) {
            case .brokenProtocol?: .brokenProtocol
            case .forbidden?: .unauthorized
            case .network?, .timeout?: .network
            case .serverFailure?: status.map(AnswerStatus.isPassing) ?? false ? .network : .brokenProtocol
            default: .attention
            }
        }
        self = Set(causes).count > 1 ? .attention : causes.first ?? .done
    }
}
