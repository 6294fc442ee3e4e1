// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import SluiceCore

@c @implementation
public func sluice_queue_list(
    _ context: sluice_context, _ filter: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .local)
        let json = try Input.optionalJSON(filter, length, "filter") ?? .object
        let members = try JSONPlace(json, in: "filter").members(["states", "table", "record"])
        let known = TableOperation.State.allCases.map(\.rawValue)
        let states = try members["states"]?.items(upTo: known.count)
            .compactMap { TableOperation.State(rawValue: try $0.choice(of: known)) }
        let wanted = TableOperation.Filter(
            states: Set(states ?? []), table: try members["table"]?.text(),
            recordID: try members["record"].map { RecordID(try $0.text()) })
        let operations = try open.call { try await $0.sync.queue.operations(wanted) }
        return ["operations": JSON(operations.map(\.json))]
    }
}

@c @implementation
public func sluice_queue_retry(
    _ context: sluice_context, _ operation: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .local)
        let operation = try Input.optionalName(operation, "operation")
        let count = try open.call { open in
            guard let operation else { return try await open.sync.queue.retryAll() }
            try await open.sync.queue.retry(operation)
            return 1
        }
        return ["retried": JSON(count)]
    }
}

@c @implementation
public func sluice_queue_discard(
    _ context: sluice_context, _ operation: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let operation = try Input.name(operation, "operation")
        try open.call { try await $0.sync.queue.discard(operation) }
        return nil
    }
}

@c @implementation
public func sluice_queue_resolve(
    _ context: sluice_context, _ operation: UnsafePointer<CChar>?, _ decision: Int32,
    _ record: UnsafePointer<CChar>?, _ length: Int, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let operation = try Input.name(operation, "operation")
        let record = try Input.optionalJSON(record, length, "record")
        let isMerge = decision == SLUICE_DECIDE_MERGE
        guard isMerge == (record != nil) else {
            throw SluiceError(.invalidArgument, "a merge takes a record, and no other decision does")
        }
        guard (0...SLUICE_DECIDE_ABORT).contains(Int(decision)) else {
            throw SluiceError(.invalidArgument, "there is no decision \(decision)")
        }
        let decided = try record.map { .merge($0) } ?? ConflictDecision(Int(decision), nil)
        try open.call { try await $0.sync.queue.resolve(operation, decided) }
        return nil
    }
}
