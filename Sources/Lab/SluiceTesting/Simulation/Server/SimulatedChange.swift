internal import HTTPTypes
internal import SluiceCore

/// A change requested from the server.
struct SimulatedChange {
    var call: ModelCall?
    let table: String
    let id: RecordID
    /// The device that requested it; nil for another client.
    let device: Int?
    /// The user that the server recognised; nil for another client.
    let user: Int?
    /// The request's id: operation and revision.
    let requestID: String?

    init(call: ModelCall, table: String, device: Int, user: Int, requestID: String?) {
        self.call = call
        self.table = table
        id = call.id ?? ""
        self.device = device
        self.user = user
        self.requestID = requestID
    }

    init(table: String, id: RecordID) {
        self.table = table
        self.id = id
        device = nil
        user = nil
        requestID = nil
    }

    /// Whether the request replaces or changes an existing row, and so needs a condition.
    var isUpdate: Bool { call.map { $0.id != nil && ($0.method == .patch || $0.method == .put) } ?? false }
    /// Whether the request may bring a deleted row back.
    var mayRestore: Bool { call.map { $0.method == .post || $0.body["deleted"]?.bool == false } ?? true }
}
