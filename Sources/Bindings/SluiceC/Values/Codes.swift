internal import CSluice
internal import Glibc
internal import SluiceCore

/// The numbers of the header, and their names.
enum Codes {
    private static let own: [(number: Int, name: String)] = [
        (SLUICE_OK, "ok"), (SLUICE_ERROR_HANDLE, "handle"), (SLUICE_ERROR_NULL, "null"), (SLUICE_ERROR_UTF8, "utf8"),
        (SLUICE_ERROR_JSON, "json"), (SLUICE_ERROR_REENTRANT, "reentrant"), (SLUICE_ERROR_CALLBACK, "callback"),
        (SLUICE_ERROR_SIZE, "size"), (SLUICE_ERROR_TIMEOUT, "nothingYet"), (SLUICE_ERROR_FORKED, "forked"),
        (SLUICE_ERROR_OTHER, "other"),
    ]

    private static let ofErrors: [(number: Int, code: SluiceError.Code)] = [
        (SLUICE_ERROR_NETWORK, .network), (SLUICE_ERROR_SERVER_TIMEOUT, .timeout),
        (SLUICE_ERROR_CANCELLED, .cancelled), (SLUICE_ERROR_UNAUTHORIZED, .unauthorized),
        (SLUICE_ERROR_FORBIDDEN, .forbidden), (SLUICE_ERROR_NOT_FOUND, .notFound),
        (SLUICE_ERROR_CONFLICT, .conflict), (SLUICE_ERROR_PRECONDITION_FAILED, .preconditionFailed),
        (SLUICE_ERROR_REJECTED, .rejected), (SLUICE_ERROR_SERVER_FAILURE, .serverFailure),
        (SLUICE_ERROR_BROKEN_PROTOCOL, .brokenProtocol), (SLUICE_ERROR_TOO_LARGE, .tooLarge),
        (SLUICE_ERROR_FILTER, .filter), (SLUICE_ERROR_ABORTED, .aborted),
        (SLUICE_ERROR_ARGUMENT, .invalidArgument), (SLUICE_ERROR_QUERY, .invalidQuery),
        (SLUICE_ERROR_RECORD, .invalidRecord), (SLUICE_ERROR_TABLE, .invalidTable),
        (SLUICE_ERROR_LIMIT, .limitReached), (SLUICE_ERROR_REMOVALS_HELD, .removalsHeld),
        (SLUICE_ERROR_RECORD_EXISTS, .recordExists), (SLUICE_ERROR_RECORD_MISSING, .recordMissing),
        (SLUICE_ERROR_OPERATION_REFUSED, .operationRefused),
        (SLUICE_ERROR_OPERATIONS_PENDING, .operationsPending),
        (SLUICE_ERROR_REFUSED_BY_HOOK, .refusedByHook), (SLUICE_ERROR_HOOK_FAILED, .hookFailed),
        (SLUICE_ERROR_POSTPONED, .postponed), (SLUICE_ERROR_UNSUPPORTED, .unsupported),
        (SLUICE_ERROR_NOT_COVERED, .notCovered), (SLUICE_ERROR_NOT_AVAILABLE_OFFLINE, .notAvailableOffline),
        (SLUICE_ERROR_MAYBE_APPLIED, .maybeApplied),
        (SLUICE_ERROR_STORE_NOT_A_DATABASE, .storeNotADatabase), (SLUICE_ERROR_STORE_BUSY, .storeBusy),
        (SLUICE_ERROR_STORE_FULL, .storeFull), (SLUICE_ERROR_STORE_INPUT_OUTPUT, .storeInputOutput),
        (SLUICE_ERROR_STORE_CORRUPT, .storeCorrupt), (SLUICE_ERROR_STORE_SCHEMA, .storeSchema),
        (SLUICE_ERROR_STORE_CLOSED, .storeClosed), (SLUICE_ERROR_STORE_LEASE_LOST, .storeLeaseLost),
        (SLUICE_ERROR_STORE_KEY_REFUSED, .storeKeyRefused), (SLUICE_ERROR_STORE_ENCRYPTED, .storeEncrypted),
        (SLUICE_ERROR_STORE_NOT_ENCRYPTED, .storeNotEncrypted),
        (SLUICE_ERROR_STORE_LIBRARY_MISSING, .storeLibraryMissing),
    ]

    private static let numbers = Dictionary(uniqueKeysWithValues: ofErrors.map { ($0.code, $0.number) })
    private static let names = Dictionary(
        uniqueKeysWithValues: (own + ofErrors.map { ($0.number, $0.code.description) }).map { ($0.number, $0.name) })
    /// The names as C strings: created once, and never freed.
    private nonisolated(unsafe) static let texts = names.mapValues { UnsafePointer(strdup($0)) }
    private nonisolated(unsafe) static let unknown = UnsafePointer(strdup("unknown"))

    /// Returns the number of an engine's code.
    static func number(of code: SluiceError.Code) -> Int { numbers[code] ?? SLUICE_ERROR_OTHER }

    /// Returns a number's name.
    static func name(of code: Int32) -> String { names[Int(code)] ?? "unknown" }

    /// Returns a number's name for C; it lives as long as the process.
    static func text(of code: Int32) -> UnsafePointer<CChar>? { texts[Int(code)] ?? unknown }
}

/// The version of the library as a C string.
enum LibraryVersion {
    /// Created once, and never freed.
    nonisolated(unsafe) static let text = UnsafePointer(strdup(SluiceVersion.text))
}

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
