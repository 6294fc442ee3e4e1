internal import CSluice
internal import Glibc
internal import SluiceCore
internal import SluiceHTTP
internal import SluiceLua
internal import SluiceOData
internal import SluiceSQLite
internal import Synchronization

/// The content of `sluice_options`, read and checked.
struct Opening: Sendable {
    private let path: String
    private let endpoint: Endpoint?
    private let dialect: Dialect
    private let user: String
    private let policy: ConflictPolicy
    private let tokens: (any TokenProvider)?
    private let scheme: ClientOptions.TokenScheme
    private let applicationKey: String?
    private let encryption: StoreEncryption?
    private let plugins: String?
    private let secrets: SecretFolder?
    private let settings: Settings
    private let conflicts: ConflictCallback?

    /// Reads options of this header's version or a newer one.
    init(_ pointer: UnsafePointer<sluice_options>?) throws {
        guard let pointer else { throw Input.null("options") }
        let options = try Self.known(pointer)
        path = try Input.name(options.store, "store")
        endpoint = try Input.optionalName(options.endpoint, "endpoint").map { try Endpoint($0) }
        let name = try Input.optionalName(options.dialect, "dialect") ?? Dialect.azureV2.name
        let named = try Self.one(of: Dialect.known.map { ($0.name, $0) }, name, "dialect")
        user = try Input.optionalName(options.user, "user") ?? ""
        policy = try Self.one(
            of: ConflictPolicy.allCases.map { ($0.rawValue, $0) },
            try Input.optionalName(options.conflicts, "conflicts") ?? ConflictPolicy.hold.rawValue, "conflicts")
        scheme = try Self.one(
            of: [("zumo", ClientOptions.TokenScheme.zumo), ("bearer", .bearer), ("basic", .basic)],
            try Input.optionalName(options.token_scheme, "token_scheme") ?? "zumo", "token_scheme")
        tokens =
            try Input.optionalName(options.token, "token").map { GivenToken($0) }
            ?? options.on_token.map { TokenCallback($0, options.on_token_data) }
        applicationKey = try Input.optionalName(options.application_key, "application_key")
        encryption = try Self.encryption(options)
        plugins = try Input.optionalName(options.plugins, "plugins")
        secrets = try Input.optionalName(options.secrets, "secrets").map { SecretFolder(path: $0) }
        settings = try Settings(
            try Input.optionalJSON(options.settings, options.settings_length, "settings") ?? .object)
        dialect = ODataVersion(rawValue: name).map { [settings] in .odata($0, settings.odata.settings) } ?? named
        conflicts = options.on_conflict.map { ConflictCallback(callback: $0, data: options.on_conflict_data) }
    }

    /// Opens the store and a context over it.
    func open() async throws -> OpenContext {
        let store = try SQLiteStore(path: path, encryption: encryption, options: settings.store)
        do {
            return OpenContext(try await context(store), store)
        } catch {
            try? await store.close()
            throw error
        }
    }

    private func context(_ store: SQLiteStore) async throws -> SyncContext {
        let transport = AsyncHTTPTransport(proxy: settings.proxy)
        var served: Plugins?
        if let plugins {
            served = try await Plugins(
                policy: plugins,
                options: PluginOptions(
                    transport: transport, store: store, storage: try await StoredPluginValues(store),
                    secret: { [secrets] in try secrets?.secret($0) }, dialect: dialect, tables: settings.tables))
        }
        let client = endpoint.map { endpoint in
            SluiceClient(
                endpoint: endpoint, dialect: dialect, transport: transport,
                filters: served.map { [$0.filter] } ?? [],
                options: ClientOptions(
                    tokenProvider: tokens, tokenScheme: scheme, retry: settings.retry,
                    applicationKey: applicationKey))
        }
        var options = SyncOptions(
            conflictHandlers: conflicts.map { [$0] } ?? [], conflictPolicy: policy, user: user, dialect: dialect)
        settings.set(&options)
        options = served?.added(to: options) ?? options
        return try await SyncContext(client: client, store: store, tables: settings.tables, options: options)
    }

    /// The size of `sluice_options` in the first header, 0.1: no program has a smaller one.
    static let firstSize = 160

    /// Returns the options of this library's version: members that an older header lacks are 0. Members that a newer
    /// one added are refused unless they are 0.
    private static func known(_ pointer: UnsafePointer<sluice_options>) throws(Failure) -> sluice_options {
        let size = pointer.pointee.size
        let known = MemoryLayout<sluice_options>.size
        guard (firstSize...65_536).contains(size) else {
            throw Failure(SLUICE_ERROR_SIZE, "the size of sluice_options is \(known) and not \(size)")
        }
        let given = UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer), count: size)
        guard given.dropFirst(known).allSatisfy({ $0 == 0 }) else {
            throw Failure(SLUICE_ERROR_SIZE, "sluice_options has a member set that this library does not know")
        }
        var options = sluice_options()
        withUnsafeMutableBytes(of: &options) { $0.copyMemory(from: .init(rebasing: given.prefix(known))) }
        return options
    }

    private static func encryption(_ options: sluice_options) throws -> StoreEncryption? {
        let passphrase = try Input.optionalName(options.passphrase, "passphrase")
        guard let key = options.key else {
            guard options.key_length == 0 else { throw Input.null("key") }
            return try passphrase.map { .passphrase(try StorePassphrase($0)) }
        }
        guard passphrase == nil else {
            throw Failure(SLUICE_ERROR_ARGUMENT, "a store has a key or a passphrase, not both")
        }
        guard options.key_length == StoreKey.byteCount else {
            throw Failure(SLUICE_ERROR_ARGUMENT, "a key has \(StoreKey.byteCount) bytes, not \(options.key_length)")
        }
        return .key(try StoreKey(UnsafeBufferPointer(start: key, count: StoreKey.byteCount)))
    }

    private static func one<Value>(
        of known: [(name: String, value: Value)], _ name: String, _ what: String
    ) throws(Failure) -> Value {
        guard let found = known.first(where: { $0.name == name }) else {
            throw Failure(
                SLUICE_ERROR_ARGUMENT,
                "\(what) is one of \(known.map(\.name).joined(separator: ", ")), not \"\(name)\"")
        }
        return found.value
    }
}

/// Asks a callback for tokens, and keeps the last one. Only the callback follows its data pointer, so the type may be
/// unchecked `Sendable`.
final class TokenCallback: TokenProvider, @unchecked Sendable {
    private let callback: sluice_token_callback
    private let data: UnsafeMutableRawPointer?
    private let last = Mutex<String?>(nil)

    init(_ callback: sluice_token_callback, _ data: UnsafeMutableRawPointer?) {
        self.callback = callback
        self.data = data
    }

    func token() async throws -> String? {
        if let token = last.withLock({ $0 }) { return token }
        return try await ask(refused: nil)
    }

    func refresh(refused: String?) async throws -> String? { try await ask(refused: refused) }

    private func ask(refused: String?) async throws -> String? {
        let answer = await CallbackPlace.decision.onCaller { [self] in
            var text = sluice_text()
            let code =
                if let refused { refused.withCString { callback(data, $0, &text) } } else { callback(data, nil, &text) }
            let answer = CallbackAnswer.take(&text)
            return code == 0 ? answer : nil
        }
        guard let answer else { return nil }
        guard let token = String(validating: answer, as: UTF8.self) else {
            throw SluiceError(.invalidArgument, "the token callback's answer is not UTF-8")
        }
        last.withLock { $0 = token }
        return token
    }
}

/// A fixed token, used as long as a context is open.
struct GivenToken: TokenProvider {
    private let text: String

    init(_ text: String) { self.text = text }

    func token() async throws -> String? { text }

    func refresh(refused: String?) async throws -> String? { nil }
}
