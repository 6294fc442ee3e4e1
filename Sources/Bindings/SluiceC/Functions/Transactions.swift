// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
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
