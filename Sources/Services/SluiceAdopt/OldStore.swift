internal import SluiceBase
internal import SluiceSQLite
public import SluiceSync
public import SluiceWire

/// The local store of an SDK whose development has ended, opened to move its records and waiting changes to Sluice.
///
/// ```swift
/// let old = try OldStore(path: "localstore.db")
/// print(try old.report(dialect: .azureV2))        // a dry run: nothing is changed
/// let report = try await context.adopt(old)
/// ```
///
/// The file is copied with its log or journal when it is opened, and never written to. Moving again changes nothing.
public final class OldStore: Sendable {
    /// The format of the file.
    public let format: OldStoreFormat
    private let copy: StoreCopy

    /// Opens a file, and recognises its format by the SDK's own tables and their columns.
    ///
    /// - Parameters:
    ///   - path: the file. A log (`-wal`) or a journal (`-journal`) beside it belongs to it.
    ///   - format: the format that it has to have; nil for any.
    ///   - temporaryFolder: the folder for a copy, which only the user may read and which is removed with this object.
    /// - Throws: ``SluiceError`` of code `invalidArgument` where there is no file; `unsupported` for a file that is no
    ///   store of a known version, with the tables and columns that are not known; `storeBusy` for a file that is being
    ///   written; `storeNotADatabase`, also for an encrypted file; of storage.
    public init(path: String, format: OldStoreFormat? = nil, temporaryFolder: String = "/tmp") throws {
        copy = try StoreCopy(of: path, in: temporaryFolder)
        self.format = try Fingerprint.recognise(OldFile(path: copy.path), expected: format).format
        if self.format == .ios { try Self.checkExternalData(of: path) }
    }

    /// Refuses a store of Core Data's whose large values are files of their own: the rows have their names alone.
    private static func checkExternalData(of path: String) throws(SluiceError) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let name = parts.removeLast()
        let stem = name.split(separator: ".").dropLast().joined(separator: ".")
        let folder = (parts + [".\(stem.isEmpty ? name : stem)_SUPPORT"]).joined(separator: "/")
        guard FileStatus(folder) == nil else {
            throw SluiceError(
                .unsupported, "Core Data keeps large values of this store in files of their own, in \(folder)")
        }
    }

    /// Returns the report of an adoption that is not carried out.
    ///
    /// - Parameters:
    ///   - dialect: the server's wire.
    ///   - commitLag: the time by which a pull stays behind the server's clock: ``SyncOptions/commitLag``.
    /// - Throws: as ``SluiceSync/SyncContext/adopt(_:options:)``, for all that the old store is the reason of.
    public func report(
        _ options: AdoptionOptions = AdoptionOptions(), dialect: Dialect = .azureV2, localOnly: LocalOnly = LocalOnly(),
        commitLag: Duration = .seconds(30)
    ) throws -> AdoptionReport {
        try content(
            options,
            AdoptedContent.Context(
                dialect: dialect, environment: .system, commitLag: commitLag, localOnly: localOnly)
        ).report
    }

    func content(_ options: AdoptionOptions, _ context: AdoptedContent.Context) throws -> AdoptedContent {
        guard context.dialect.adapter == nil else {
            throw SluiceError(
                .invalidArgument,
                "an old SDK's store belongs to a server of the tables wires, and \(context.dialect.name) is none of them"
            )
        }
        let file = try OldFile(path: copy.path)
        return try AdoptedContent(file, Fingerprint.recognise(file, expected: format), options, context)
    }

    /// Calls `body` with each record.
    func forEachRecord(
        _ maps: [TableMap], _ options: AdoptionOptions, _ body: (_ table: String, _ record: JSON) throws -> Void
    ) throws {
        let file = try OldFile(path: copy.path)
        for map in maps {
            try file.forEachRow(of: map.source) { try body(map.name, map.record($0, utc: options.utc)) }
        }
    }
}

extension SyncContext {
    /// Moves an old SDK's records, waiting changes and delta tokens into this context's store, in one transaction: all of
    /// it, or nothing.
    ///
    /// Changes keep their order, kind and content, and the version that they were made on. One that the old store cannot
    /// tell the outcome of is uncertain, and the next push finds out. One that the server refused is held with its
    /// failure. A delta token is taken over by a query of ``AdoptionOptions/queries``, else the next pull reads afresh.
    /// The values are those of this context's wire. Content that was adopted before is not adopted again.
    ///
    /// - Returns: the tables, changes and tokens, and the changes that were left out, each with its reason.
    /// - Throws: ``SluiceError`` of code `unsupported` for tables, columns and values that are not known, by name;
    ///   `recordExists` or `operationsPending` for a table that is in use here already; `invalidArgument` for a wire that
    ///   no old SDK has spoken; of the store. Nothing is stored then.
    @discardableResult
    public func adopt(
        _ old: OldStore, options adoption: AdoptionOptions = AdoptionOptions()
    ) async throws -> AdoptionReport {
        let content = try old.content(
            adoption,
            AdoptedContent.Context(
                dialect: client?.dialect ?? options.dialect, environment: options.environment,
                commitLag: options.commitLag, localOnly: localOnly))
        let maps = content.mapper.maps
        let moved = StoreAdoption(
            name: "adopted \(old.format.rawValue) \(content.digest)", tables: maps.map(\.name),
            changes: content.changes,
            positions: content.positions
        ) { try old.forEachRecord(maps, adoption, $0) }
        var report = content.report
        report.adoptedBefore = try await adopt(moved)
        return report
    }
}
