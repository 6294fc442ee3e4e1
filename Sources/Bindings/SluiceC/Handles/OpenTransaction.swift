internal import CSluice
internal import Glibc
internal import SluiceCore

/// A transaction whose body runs on a caller's thread, while the store's writer waits for it. So it may move to that
/// thread, and be unchecked `Sendable`.
final class OpenTransaction: @unchecked Sendable {
    /// All transactions whose bodies are running.
    static let all = HandleTable<OpenTransaction>(.transaction)

    let transaction: LocalTransaction
    private let thread = pthread_self()

    private init(_ transaction: LocalTransaction) { self.transaction = transaction }

    /// Runs `body` on the thread that waits for the transaction, and waits for it.
    ///
    /// - Throws: ``Failure`` of code `SLUICE_ERROR_CALLBACK` if it returns something other than 0.
    static func run(
        _ transaction: LocalTransaction, on loop: CallerExecutor, _ body: @escaping @Sendable (UInt64) -> Int32
    ) throws {
        let carrier = Carrier(transaction)
        let isTaken = loop.perform {
            let handle = all.add(OpenTransaction(carrier.transaction))
            let code = CallbackPlace.transaction.during { body(handle) }
            _ = try? all.remove(handle)
            carrier.end(code)
        }
        let code = isTaken ? carrier.wait() : -1
        guard code == 0 else {
            throw Failure(SLUICE_ERROR_CALLBACK, "the transaction's body returned \(code): nothing was changed")
        }
    }

    /// Returns the transaction of a handle, on the thread of its body.
    static func find(_ handle: sluice_transaction) throws(Failure) -> LocalTransaction {
        try ThisProcess.check()
        let open = try all.find(handle)
        guard pthread_equal(open.thread, pthread_self()) != 0 else {
            throw Failure(SLUICE_ERROR_HANDLE, "a transaction belongs to the thread that its body runs on")
        }
        return open.transaction
    }
}

/// Carries a transaction from the writer's thread to the caller's, and the code back.
private final class Carrier: @unchecked Sendable {
    let transaction: LocalTransaction
    private let monitor = Monitor()
    private var code: Int32?

    init(_ transaction: LocalTransaction) { self.transaction = transaction }

    func end(_ code: Int32) {
        monitor.locked {
            self.code = code
            monitor.signal()
        }
    }

    func wait() -> Int32 {
        monitor.locked {
            while true {
                if let code { return code }
                monitor.wait()
            }
        }
    }
}
