internal import HTTPTypes
internal import SluiceCore

// What the hooks of a table get to see of a request.

extension HookRequest {
    init(_ session: TableSession, id: RecordID?) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
    }
}

extension HookAnswer {
    init(_ session: TableSession, _ records: [JSON]) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        self.records = records
    }
}

extension HookConflict {
    init(_ session: TableSession, _ id: RecordID, client: JSON, _ conflict: ChangeConflict, replaces: Bool) {
        table = session.table.name
        operation = session.operation
        principal = session.principal
        recordID = id
        self.client = client
        server = conflict.server
        status = conflict.status.code
        self.replaces = replaces
    }
}
