// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import Glibc
internal import SluiceCore

@c @implementation
public func sluice_write(
    _ context: sluice_context, _ flags: UInt32, _ body: sluice_transaction_body?, _ data: UnsafeMutableRawPointer?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        guard let body else { throw Input.null("body") }
        guard flags & ~SLUICE_GROUP == 0 else {
            throw SluiceError(.invalidArgument, "sluice_write knows no flags but SLUICE_GROUP")
        }
        let callback = TransactionCallback(body: body, data: data)
        try open.call { open in
            guard let loop = CallerExecutor.current else { throw Failure(SLUICE_ERROR_OTHER, "no thread waits") }
            let run: @Sendable (LocalTransaction) throws -> Void = { transaction in
                try OpenTransaction.run(transaction, on: loop) { callback.body($0, callback.data) }
            }
            if flags & SLUICE_GROUP == 0 { try await open.sync.write(run) } else { try await open.sync.group(run) }
        }
        return nil
    }
}

/// A transaction's body. Only the body follows its data pointer, so the type may be unchecked `Sendable`.
private struct TransactionCallback: @unchecked Sendable {
    let body: sluice_transaction_body
    let data: UnsafeMutableRawPointer?
}

@c @implementation
public func sluice_transaction_insert(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ record: UnsafePointer<CChar>?,
    _ length: Int, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try OpenTransaction.find(transaction)
            .insert(try Input.json(record, length, "record"), in: try Input.name(table, "table"))
    }
}

@c @implementation
public func sluice_transaction_update(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ changes: UnsafePointer<CChar>?,
    _ length: Int, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try OpenTransaction.find(transaction)
            .update(try Input.json(changes, length, "changes"), in: try Input.name(table, "table"))
    }
}

@c @implementation
public func sluice_transaction_delete(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try OpenTransaction.find(transaction)
            .delete(id: RecordID(try Input.name(id, "id")), in: try Input.name(table, "table"))
        return nil
    }
}

@c @implementation
public func sluice_transaction_undelete(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try OpenTransaction.find(transaction)
            .undelete(id: RecordID(try Input.name(id, "id")), in: try Input.name(table, "table"))
        return nil
    }
}

@c @implementation
public func sluice_transaction_lookup(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let (table, id) = (try Input.name(table, "table"), RecordID(try Input.name(id, "id")))
        let record = try OpenTransaction.find(transaction).lookup(id: id, in: table)
        return try record ?? { throw SluiceError.missing(id, in: table) }()
    }
}

@c @implementation
public func sluice_transaction_query(
    _ transaction: sluice_transaction, _ table: UnsafePointer<CChar>?, _ query: UnsafePointer<CChar>?,
    _ length: Int, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let transaction = try OpenTransaction.find(transaction)
        let query = try QueryDocument.reading(query, length, try Input.name(table, "table"))
        return try QueryDocument.items(of: query, records: transaction.records, count: transaction.count)
    }
}

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
