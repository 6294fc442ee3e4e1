/// An error: its reason, its place and the possible remedy.
///
/// All errors of Sluice have this type, except ``JSON.ParseError`` and ``TableQuery.SyntaxError``, which name a position in a
/// text. Match on ``code``; codes may be added, so leave a default.
///
/// ```swift
/// do {
///     try await context.push()
/// } catch let error as SluiceError where error.code == .network {
///     // offline: the queue waits in the store
/// }
/// ```
///
/// An error never holds a credential, and its description names records by id only.
public struct SluiceError: Error, Sendable, CustomStringConvertible {
    /// The reason, as a value to match on.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: String, Sendable, CaseIterable {
            case network, timeout, cancelled, unauthorized, forbidden, notFound, conflict, preconditionFailed, rejected
            case serverFailure, brokenProtocol, tooLarge, filter, aborted
            case invalidArgument, invalidQuery, invalidRecord, invalidTable, unsupported
            case limitReached, removalsHeld
            case recordExists, recordMissing, operationRefused, operationsPending
            case storeNotADatabase, storeBusy, storeFull, storeInputOutput, storeCorrupt, storeSchema, storeClosed
            case storeLeaseLost
            case storeKeyRefused, storeEncrypted, storeNotEncrypted, storeLibraryMissing
            case refusedByHook, hookFailed, postponed
            case notCovered, notAvailableOffline
            case maybeApplied
        }
        private let name: Name

        /// The server could not be reached, or the connection broke.
        public static let network = Code(name: .network)
        /// The server took longer than the limits allow.
        public static let timeout = Code(name: .timeout)
        /// The task was cancelled.
        public static let cancelled = Code(name: .cancelled)
        /// The server requires other credentials (401).
        public static let unauthorized = Code(name: .unauthorized)
        /// The server refuses these credentials this resource (403, 451).
        public static let forbidden = Code(name: .forbidden)
        /// No such record or table (404, 410).
        public static let notFound = Code(name: .notFound)
        /// The record exists already or was changed at the same time (409).
        public static let conflict = Code(name: .conflict)
        /// The record's version differs from the version that the change was made on (412).
        public static let preconditionFailed = Code(name: .preconditionFailed)
        /// The server refuses the request as it is (another 4xx).
        public static let rejected = Code(name: .rejected)
        /// The server failed (5xx), or it or a proxy cannot do it now (407, 408, 425, 429).
        public static let serverFailure = Code(name: .serverFailure)
        /// The answer breaks the protocol: not JSON, cut short, without ids.
        public static let brokenProtocol = Code(name: .brokenProtocol)
        /// The answer is larger than the limits allow, or the request larger than the server's (413, 414, 431).
        public static let tooLarge = Code(name: .tooLarge)
        /// A filter threw an error of its own; ``SluiceError/cause`` is that error.
        public static let filter = Code(name: .filter)
        /// A conflict handler or a hook ended the push.
        public static let aborted = Code(name: .aborted)
        /// A hook refuses the change; ``SluiceError/refusal`` has the reason.
        public static let refusedByHook = Code(name: .refusedByHook)
        /// A hook threw an error, or returned an impossible answer; ``SluiceError/cause`` is the error.
        public static let hookFailed = Code(name: .hookFailed)
        /// A hook makes the operation wait.
        public static let postponed = Code(name: .postponed)
        /// An argument or a setting is out of its range.
        public static let invalidArgument = Code(name: .invalidArgument)
        /// The query is impossible, such as a comparison of a number with a text.
        public static let invalidQuery = Code(name: .invalidQuery)
        /// The query is valid but cannot be run here.
        public static let unsupported = Code(name: .unsupported)
        /// The record has no id, an id that is not allowed, is not an object, or does not fit its type.
        public static let invalidRecord = Code(name: .invalidRecord)
        /// The table's name is not allowed.
        public static let invalidTable = Code(name: .invalidTable)
        /// A pull has reached the limit for one run, or an SQL statement has exceeded a limit.
        public static let limitReached = Code(name: .limitReached)
        /// A pull or reconcile would remove more rows here than it may without permission.
        public static let removalsHeld = Code(name: .removalsHeld)
        /// The record exists already.
        public static let recordExists = Code(name: .recordExists)
        /// The record does not exist.
        public static let recordMissing = Code(name: .recordMissing)
        /// The queue holds an operation on the record that this one cannot follow, or the operation was changed after
        /// it was read.
        public static let operationRefused = Code(name: .operationRefused)
        /// Operations wait in the queue, and the call would lose them.
        public static let operationsPending = Code(name: .operationsPending)
        /// The file is not a SQLite database.
        public static let storeNotADatabase = Code(name: .storeNotADatabase)
        /// Another process or connection holds the store's lock, or synchronises it.
        public static let storeBusy = Code(name: .storeBusy)
        /// The disk or the store's quota is full.
        public static let storeFull = Code(name: .storeFull)
        /// The store's file cannot be read or written.
        public static let storeInputOutput = Code(name: .storeInputOutput)
        /// The store's file is damaged.
        public static let storeCorrupt = Code(name: .storeCorrupt)
        /// The store's tables differ from the declared ones, or have a newer format.
        public static let storeSchema = Code(name: .storeSchema)
        /// The store is closed, or its file was replaced or removed while it was open.
        public static let storeClosed = Code(name: .storeClosed)
        /// Another context took over the store's synchronisation; the work here ended and wrote nothing more.
        public static let storeLeaseLost = Code(name: .storeLeaseLost)
        /// The store is encrypted with another key.
        public static let storeKeyRefused = Code(name: .storeKeyRefused)
        /// The store is encrypted, but was opened without a key.
        public static let storeEncrypted = Code(name: .storeEncrypted)
        /// The store is not encrypted, but was opened with a key.
        public static let storeNotEncrypted = Code(name: .storeNotEncrypted)
        /// The library that encrypted stores need is missing or too old.
        public static let storeLibraryMissing = Code(name: .storeLibraryMissing)

        /// No defining request of the offline store covers the whole request, and the service cannot be reached.
        public static let notCovered = Code(name: .notCovered)
        /// Only the service has the answer, and it was not requested or cannot be reached.
        public static let notAvailableOffline = Code(name: .notAvailableOffline)

        /// A create request, for a record with a key assigned by the service, lost its answer. Nothing shows whether it
        /// took effect, and it is not repeated automatically.
        public static let maybeApplied = Code(name: .maybeApplied)

        /// The codes of this version.
        package static var all: [Code] { Name.allCases.map { Code(name: $0) } }

        /// Creates the code of that name, as ``description`` returns it; nil for an unknown name.
        package init?(_ name: String) {
            guard let name = Name(rawValue: name) else { return nil }
            self.name = name
        }

        private init(name: Name) { self.name = name }

        /// The code's name.
        public var description: String { name.rawValue }

        /// Whether the error is about the local store.
        public var isStore: Bool { name.rawValue.hasPrefix("store") }
        /// Whether the error is about reaching the server.
        public var isNetwork: Bool { self == .network || self == .timeout }
    }

    /// The reason.
    public var code: Code
    /// The problem and the remedy, as a sentence or two for a person.
    public var message: String
    /// The table that the error is about.
    public var table: String?
    /// The id of the record that the error is about.
    public var recordID: RecordID?
    /// The id of the queued operation that the error is about.
    public var operationID: String?
    /// The HTTP status of the answer.
    public var status: Int?
    /// The server's record, if the answer held one.
    public var serverRecord: JSON?
    /// The underlying error.
    public var cause: (any Error)?
    /// Data that a higher layer keeps with the error; ``exchange`` reads it.
    package var details: (any Sendable)?

    /// Creates an error. Filters, transports and stores do so too.
    public init(
        _ code: Code, _ message: String, table: String? = nil, recordID: RecordID? = nil, operationID: String? = nil,
        status: Int? = nil, serverRecord: JSON? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.table = table
        self.recordID = recordID
        self.operationID = operationID
        self.status = status
        self.serverRecord = serverRecord
        self.cause = cause
    }

    /// The message, followed by the place and the cause.
    public var description: String {
        var place: [String] = []
        if let table { place.append("table \(table)") }
        if let recordID { place.append("record \(recordID)") }
        if let operationID { place.append("operation \(operationID)") }
        if let status { place.append("status \(status)") }
        let context = place.isEmpty ? "" : " (\(place.joined(separator: ", ")))"
        let reason = cause.map(words(of:)) ?? ""
        return "\(message)\(context)\(reason.isEmpty ? "" : ": \(reason)")"
    }
}
