internal import HTTPTypes
internal import SluiceCore

/// A row of the simulated server.
struct SimulatedRow: Sendable {
    let id: RecordID
    /// The application's properties, the id among them.
    var fields: JSON
    var version = 0
    let createdAt: Timestamp
    var updatedAt: Timestamp
    /// Whether the row has a time of its last change.
    var isTimed = true
    var isDeleted = false
    /// The position of its last change in the order of commits.
    var commit = 0
    /// The row in its wire form.
    private(set) var wire = JSON.null
    /// The row as filters see it: with all digits of its times.
    private(set) var exact = JSON.null

    init(id: RecordID, createdAt: Timestamp) {
        self.id = id
        fields = ["id": JSON(id)]
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    /// Merges the application's properties into the row.
    mutating func merge(_ record: JSON, _ dialect: Dialect, _ setting: SimulationSetting) {
        let texts =
            setting.traits.contains(.keepsTexts)
            ? SimulatedFields.all.map { PropertyName(setting.fields.name($0)) } : []
        for (name, value) in record.members ?? [] where !dialect.isSystemProperty(name) && name != dialect.columns.id {
            let isText = texts.contains(name) && value.kind == .number
            fields[name] = isText ? JSON("\(value)") : value
        }
    }

    /// Returns the row's sort position by time within its table.
    func place(_ setting: SimulationSetting) -> Int64 {
        isTimed ? updatedAt.ticks : setting.traits.contains(.untimedLast) ? .max : .min
    }

    /// Updates the row's wire forms after a change.
    mutating func finish(_ dialect: Dialect, _ setting: SimulationSetting, _ service: SimulatedService? = nil) {
        if let service {
            wire = service.record(of: self, isExact: false)
            exact = service.record(of: self, isExact: true)
            return
        }
        let digits = setting.digits
        let columns = dialect.columns
        var record = fields
        record[columns.version] = JSON("v\(version)")
        record[columns.deleted] = JSON(isDeleted)
        if let column = dialect.columns.createdAt { record[column] = JSON(createdAt.text(fractionDigits: digits)) }
        record[columns.updatedAt] = isTimed ? JSON(updatedAt.text(fractionDigits: digits)) : .null
        wire = record
        if id == SimulatedServer.oddIDs[0] { wire[columns.updatedAt] = "some day" }
        if digits < 7, isTimed { record[columns.updatedAt] = JSON(updatedAt.description) }
        exact = record
    }
}

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
