internal import Sluice
internal import SluiceDaemon

/// The report of a failure to a person or a script: one line on standard error, one object with `--json`.
struct CommandFailure: Error, JSONPrinted {
    var status: ExitStatus
    /// The reason as a code to match on.
    var code: String
    /// The reason for a person.
    var message: String
    var table: String?
    var recordID: RecordID?
    /// The status of the server's answer.
    var httpStatus: Int?

    /// The members of `error` in a JSON document.
    private enum CodingKeys: String, CodingKey {
        case code, message, table, recordID = "record", httpStatus = "status"
    }

    init(
        _ status: ExitStatus, _ code: String, _ message: String, table: String? = nil, recordID: RecordID? = nil,
        httpStatus: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.table = table
        self.recordID = recordID
        self.httpStatus = httpStatus
    }

    /// A mistake in the command's arguments or configuration.
    static func usage(_ message: String, table: String? = nil, recordID: RecordID? = nil) -> CommandFailure {
        CommandFailure(.usage, "usage", message, table: table, recordID: recordID)
    }

    /// Converts any error.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as SluiceError:
            self.init(
                ExitStatus(error), error.code.description, CommandText.reason(error), table: error.table,
                recordID: error.recordID, httpStatus: error.status)
        case is StreamFailure: self.init(.output, "outputLost", "\(error)")
        case is JSON.ParseError: self.init(.usage, "invalidJSON", "\(error)")
        case is TableQuery.SyntaxError: self.init(.usage, "invalidQuery", "\(error)")
        default: self.init(ExitStatus(error), "unexpected", CommandText.reason(error))
        }
    }

    /// Reports an operation that failed.
    init(_ operation: TableOperation, status: ExitStatus) { self.init(operation: operation.json, status: status) }

    /// Reports an operation that failed, as it is in a report.
    init(operation: JSON, status: ExitStatus) {
        func text(_ name: PropertyName) -> String { operation[name]?.string ?? "" }
        let failure = operation["failure"]
        let reason = failure?["message"]?.string ?? "it did not go through"
        let next =
            text("state") == TableOperation.State.pending.rawValue
            ? "it will be tried again" : "see sluice queue show \(text("id"))"
        self.init(
            status, failure?["code"]?.string ?? "failed", "\(text("kind")) not done: \(reason); \(next)",
            table: text("table"), recordID: RecordID(text("record")),
            httpStatus: failure?["status"]?.int.map { Int($0) })
    }

    /// The failure as one line.
    var line: String {
        var place: [String] = []
        if let table { place.append("table \(table)") }
        if let recordID { place.append("record \(recordID)") }
        if let httpStatus { place.append("status \(httpStatus)") }
        let text = message + (place.isEmpty ? "" : " (\(place.joined(separator: ", ")))")
        return "sluice: \(Plain.line(text))"
    }
}
