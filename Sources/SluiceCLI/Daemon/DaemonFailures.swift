internal import Sluice

/// The things that a daemon did not get done, as it tells it, in a command's terms.
struct DaemonFailures {
    private let entries: [JSON]

    /// The failures of a run, or of a drained endpoint.
    init(_ run: JSON) { entries = run["failures"]?.elements ?? [] }

    func add(to outcome: inout Outcome) {
        let operations = entries.compactMap { $0["operation"] }
        let status = ExitStatus(
            failures: operations.map {
                let failure = $0["failure"]
                return (failure?["code"]?.string ?? "", failure?["status"]?.int.map { Int(clamping: $0) })
            })
        for entry in entries {
            if let operation = entry["operation"] {
                outcome.add(CommandFailure(operation: operation, status: status))
            } else if let operation = entry["held"] {
                outcome.add(CommandFailure(operation: operation, status: .attention))
            } else {
                outcome.add(CommandFailure(told: entry))
            }
        }
    }
}

extension CommandFailure {
    /// An error that a daemon tells.
    fileprivate init(told json: JSON) {
        let code = json["code"]?.string ?? ""
        let status = json["status"]?.int.map { Int($0) }
        let error = SluiceError.Code(named: code).map { ExitStatus(SluiceError($0, "", status: status)) }
        self.init(
            error ?? .brokenProtocol, code, json["message"]?.string ?? "", table: json["table"]?.string,
            recordID: json["record"]?.string.map { RecordID($0) }, httpStatus: status)
    }
}
