public import SluiceBase
public import SluiceSync
internal import SluiceWire
internal import Synchronization

/// Combines an online and an offline store: each request is answered by the one that can.
///
/// ```swift
/// let store = MixedStore(online: online, offline: offline)
/// try await store.open()
/// let us = try await store.read("Agencies?$filter=Country eq 'US'")         // localComplete
/// let beijing = try await store.read("Agencies?$filter=City eq 'Beijing'")  // remote
/// store.mode = .offline
/// let what = try await store.read("Agencies?$filter=City eq 'Beijing'")     // localPartial
/// ```
///
/// In the mode ``WorkingMode/mixed`` the device answers a read if its defining requests provably hold the whole answer.
/// Else the service is asked, and queued changes are laid over its answer. The decision is about the table at the end
/// of the request's path, and its condition; the form of the address makes no difference. A single store serves in
/// every mode.
public final class MixedStore: DataStore {
    /// The store that asks the service.
    public let online: OnlineStore?
    /// The store on the device.
    public let offline: OfflineStore?
    /// The policy in the mode `mixed` for a read that no defining request covers when the service cannot be reached.
    public let uncovered: UncoveredPolicy
    private let current: Mutex<WorkingMode>

    /// Creates a store of two, which is not open yet.
    ///
    /// - Parameters:
    ///   - online: the service itself; nil for none.
    ///   - offline: the store on this device; nil for none.
    ///   - mode: the stores to use; it may be switched at any time.
    ///   - uncovered: the policy for a read that is not covered when the service cannot be reached. Default: it fails
    ///     with `notCovered`, and the message names the missing part. In the mode `offline` the offline store's options
    ///     apply.
    public init(
        online: OnlineStore? = nil, offline: OfflineStore? = nil, mode: WorkingMode = .mixed,
        uncovered: UncoveredPolicy = .fail
    ) {
        self.online = online
        self.offline = offline
        self.uncovered = uncovered
        current = Mutex(mode)
        schemas = StoreSchemas(
            (offline?.tables ?? online?.tables) ?? [],
            operations: (online?.operations ?? []) + (offline?.operations ?? []))
    }

    /// The stores to use. A request ends in the mode in which it began.
    public var mode: WorkingMode {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The service's root.
    public var service: ServiceRoot? { online?.service ?? offline?.service }
    /// The tables: the offline store's, or else the online one's.
    public var tables: [TableSchema] { schemas.all }
    let schemas: StoreSchemas

    /// Whether a store that the mode uses is open.
    public var isOpen: Bool {
        switch used {
        case .online(let store): store.isOpen
        case .offline(let store): store.isOpen
        case .both(let online, let offline): online.isOpen || offline.isOpen
        case .none: false
        }
    }

    /// Opens the existing stores.
    public func open() async throws {
        try await offline?.open()
        try await online?.open()
    }

    /// Ends the use of both.
    public func close() async {
        await offline?.close()
        await online?.close()
    }

    /// The stores used by a request that begins now.
    enum Used: Sendable {
        case online(OnlineStore)
        case offline(OfflineStore)
        case both(OnlineStore, OfflineStore)
        case none
    }

    var used: Used {
        switch (online, offline, mode) {
        case (let online?, let offline?, .mixed): .both(online, offline)
        case (let online?, _, .online), (let online?, nil, _): .online(online)
        case (_, let offline?, .offline), (nil, let offline?, _): .offline(offline)
        case (nil, nil, _): .none
        default: .none
        }
    }

    /// Reads from the store that can answer.
    public func read(_ request: StoreRequest, _ options: ReadOptions) async throws -> StoreResult {
        let reader = MixedReader(used: used, schemas: schemas, uncovered: uncovered)
        return try await PathWalk(reader: reader, request: request, readOptions: options).result()
    }

    static var unopened: SluiceError {
        SluiceError(.storeClosed, "the mixed store has no store that is open; give it one, and call open() first")
    }
}

/// The stores that a mixed store uses.
public enum WorkingMode: String, Sendable, Hashable, CaseIterable {
    /// The service alone.
    case online
    /// The device alone.
    case offline
    /// The device if it provably has the whole answer, else the service.
    case mixed
}

extension MixedStore {
    /// Creates a record: in the queue if the device holds records of the table by a defining request, else at the
    /// service.
    @discardableResult
    public func create(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, nil).create(record, in: table, options: options)
    }

    /// Changes a record: in the queue if it is on the device, else at the service.
    @discardableResult
    public func patch(_ changes: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, changes["id"]?.textID).patch(changes, in: table, options: options)
    }

    /// Replaces a record: in the queue if it is on the device, else at the service.
    @discardableResult
    public func replace(_ record: JSON, in table: String, options: OperationOptions) async throws -> JSON {
        try await writer(of: table, record["id"]?.textID).replace(record, in: table, options: options)
    }

    /// Deletes a record: in the queue if it is on the device, else at the service.
    public func delete(
        _ id: RecordID, version: String?, in table: String, options: OperationOptions
    ) async throws {
        try await writer(of: table, id).delete(id, version: version, in: table, options: options)
    }

    /// Calls the service.
    public func call(_ operation: OperationCall) async throws -> JSON {
        try await MixedReader(used: used, schemas: schemas, uncovered: uncovered).value(of: operation).0
    }

    /// Reads a media stream from the service.
    public func media(_ address: String) async throws -> [UInt8] {
        switch used {
        case .none: throw Self.unopened
        case .online(let store): return try await store.media(address)
        case .offline(let store): return try await store.media(address)
        case .both(let online, let offline):
            guard online.isOpen else { return try await offline.media(address) }
            return try await MixedReader.reaching(address) { try await online.media(address) }
        }
    }

    /// Returns the store for a change.
    ///
    /// - Parameter id: the changed record; nil for a new one.
    private func writer(of table: String, _ id: RecordID?) async throws -> any DataStore {
        switch used {
        case .none: throw Self.unopened
        case .online(let store): return store
        case .offline(let store): return store
        case .both(let online, let offline):
            guard offline.isOpen else { return online }
            guard online.isOpen else { return offline }
            let name = schemas.spelled(table)
            if let id {
                // A further change of a record with queued changes is queued after them.
                let waits = try await offline.context.queue.count(TableOperation.Filter(table: name, recordID: id)) > 0
                let isHere = try await offline.context.store.read { try $0.record(id, in: name) != nil }
                return waits || isHere ? offline : online
            }
            let isHeld = try await offline.requests().contains { $0.parts.contains { $0.table == name } }
            return isHeld ? offline : online
        }
    }
}

/// Decides for one request, table by table, which store answers. The stores are fixed when the request begins, so that
/// switching the mode during it changes nothing.
struct MixedReader: TableReader {
    let used: MixedStore.Used
    let schemas: StoreSchemas
    let uncovered: UncoveredPolicy

    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer {
        switch used {
        case .none: throw MixedStore.unopened
        case .offline(let store): return try await store.answer(read, options)
        case .online(let store): return try await store.answer(read, options)
        case .both(let online, let offline):
            switch (online.isOpen, offline.isOpen) {
            case (false, false): throw MixedStore.unopened
            case (true, false): return try await online.answer(read, options)
            case (false, true): return try await offline.answer(read, options)
            case (true, true): return try await routed(read, options, online, offline)
            }
        }
    }

    private func routed(
        _ read: TableRead, _ options: ReadOptions, _ online: OnlineStore, _ offline: OfflineStore
    ) async throws -> TableAnswer {
        if read.table == ErrorArchive.name { return try await offline.answer(read, options) }
        try SyncTables.validate(read.table)
        let (asked, isAboutState) = try await StatePredicates(context: offline.context).resolved(read)
        if isAboutState { return try await offline.answer(read, options) }
        let (whole, finding) = try await offline.complete(asked)
        if let whole { return whole }
        do {
            return try await remote(asked, online, offline, finding.coverage)
        } catch let error as SluiceError where error.serviceIsAway {
            guard options.uncovered ?? uncovered == .partial else {
                throw OfflineStore.notCovered(asked.table, finding.coverage, cause: error)
            }
            return try await offline.local(
                asked, .localPartial, finding.asOf,
                ["\(finding.coverage)", "the service could not be reached (\(error.message))"])
        }
    }

    /// Returns the service's answer, with queued changes laid over it.
    private func remote(
        _ read: TableRead, _ online: OnlineStore, _ offline: OfflineStore, _ coverage: Coverage
    ) async throws -> TableAnswer {
        let asOf = online.environment.now()
        let source = OverlaidSource(
            remote: OnlineSource(client: online.client, maximumRecords: online.maximumRecords),
            context: offline.context, schemas: schemas)
        let page = try await SetExecution(source: source, schemas: schemas).page(read)
        var reasons = ["\(coverage), so the service was asked"]
        let changes = source.findings.changes
        if changes > 0 { reasons.append("records with waiting changes are as they are here (\(changes))") }
        reasons += source.findings.refusals
        return TableAnswer(
            records: page.records, count: page.count,
            provenance: .init(changes > 0 ? .merged : .remote, asOf: asOf, reasons: reasons))
    }

    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID] {
        switch used {
        case .none, .online: []
        case .offline(let store): try await store.referring(to: id, along: reference)
        case .both(_, let offline): offline.isOpen ? try await offline.referring(to: id, along: reference) : []
        }
    }

    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool {
        switch used {
        case .none, .online: false
        case .offline(let store): try await store.isMadeHere(id, in: table)
        case .both(_, let offline): offline.isOpen ? try await offline.isMadeHere(id, in: table) : false
        }
    }

    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance) {
        switch used {
        case .none: throw MixedStore.unopened
        case .offline(let store): return try await store.value(of: call)
        case .online(let store): return try await store.value(of: call)
        case .both(let online, let offline):
            guard online.isOpen else { return try await offline.value(of: call) }
            return try await Self.reaching(call.name) { try await online.value(of: call) }
        }
    }

    /// Adds to a failure to reach the service that only the service has the answer.
    static func reaching<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SluiceError where error.serviceIsAway {
            throw SluiceError(
                .notAvailableOffline, "\(name) is the service's to answer, and the service cannot be reached",
                cause: error)
        }
    }
}

extension SluiceError {
    /// Whether the service was not reached: there is no connection, or a gateway reports that it is unavailable.
    var serviceIsAway: Bool {
        // Missing credentials, early data and too many requests are the server's own reports.
        code.isNetwork || (status.map { AnswerStatus.isPassing($0) && ![401, 425, 429].contains($0) } ?? false)
    }
}
