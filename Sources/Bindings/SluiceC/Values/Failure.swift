internal import CSluice
internal import SluiceCore

/// A failure of a function of the header: its code, and the content of the error's text.
struct Failure: Error {
    var code: Int32
    var message: String
    /// Members of the text besides `code` and `message`.
    var details = JSON.object

    init(_ code: Int, _ message: String) {
        self.code = Int32(truncatingIfNeeded: code)
        self.message = message
    }

    /// Converts any error.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SluiceError: self.init(error)
        case let error as JSON.ParseError: self.init(SLUICE_ERROR_JSON, "\(error)")
        case let error as TableQuery.SyntaxError: self.init(SLUICE_ERROR_QUERY, "\(error)")
        case is CancellationError: self.init(SLUICE_ERROR_CANCELLED, "the call was interrupted")
        default: self.init(SLUICE_ERROR_OTHER, "\(error)")
        }
    }

    private init(_ error: SluiceError) {
        self.init(Codes.number(of: error.code), error.message)
        if let cause = error.cause { message += ": \(cause)" }
        if let table = error.table { details["table"] = JSON(table) }
        if let record = error.recordID { details["record"] = JSON(record) }
        if let operation = error.operationID { details["operation"] = JSON(operation) }
        if let status = error.status { details["status"] = JSON(status) }
    }

    /// The error's text.
    var json: JSON {
        JSON(members: [("code", JSON(Codes.name(of: code))), ("message", JSON(message))]).setting(details)
    }
}
