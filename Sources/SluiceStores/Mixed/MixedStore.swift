public import SluiceBase
internal import SluiceSync
internal import SluiceWire
internal import Synchronization

/// An online and an offline store as one: each request is answered by the one that can.
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
/// In the mode ``WorkingMode/mixed`` a read is answered by the device if its defining requests provably hold the whole
/// answer; else the service is asked, and changes that wait in the queue are laid over its answer. The decision is about
/// the table that the request's path leads to, and its condition; how the request was addressed makes no difference.
/// With one store only, that one serves in every mode.
public final class MixedStore: DataStore {
    /// The store that asks the service.
    public let online: OnlineStore?
    /// The store on the device.
    public let offline: OfflineStore?
    /// What is done in the mode `mixed` with a read that no defining request covers when the service cannot be reached.
    public let uncovered: UncoveredPolicy
    private let current: Mutex<WorkingMode>

    /// A store of two, which is not open yet.
    ///
    /// - Parameters:
    ///   - mode: which of the stores are used; it may be switched at any time.
    ///   - uncovered: what is done with a read that is not covered when the service cannot be reached. Default: it fails
    ///     with `notCovered`, and the message says what is missing. In the mode `offline` the offline store's options say.
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

    /// Which of the stores are used. A request ends in the mode in which it began.
    public var mode: WorkingMode {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The service's root.
    public var service: ServiceRoot? { online?.service ?? offline?.service }
    /// The tables: the offline store's, or else the online one's.
    public var tables: [TableSchema] { schemas.all }
    let schemas: StoreSchemas

    /// Whether a store is open that the mode uses.
    public var isOpen: Bool {
        switch used {
        case .online(let store): store.isOpen
        case .offline(let store): store.isOpen
        case .both(let online, let offline): online.isOpen || offline.isOpen
        case .none: false
        }
    }

    /// Opens the stores that are there.
    public func open() async throws {
        try await offline?.open()
        try await online?.open()
    }

    /// Ends the use of both.
    public func close() async {
        await offline?.close()
        await online?.close()
    }

    /// The stores that a request uses which begins now.
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
