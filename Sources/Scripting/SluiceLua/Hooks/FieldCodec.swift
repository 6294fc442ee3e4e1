internal import SluiceCore

/// The codec of one plugin: its `to_wire` and `from_wire`, and their fields.
struct FieldCodec: Sendable {
    private let caller: PluginCaller
    private let toWire: HookPlan
    private let fromWire: HookPlan
    private let fields: [String: [PropertyName]]
    /// Whether a query may compare the fields with constants.
    let allowsFilters: Bool

    var name: String { caller.plan.name }
    /// A text that changes with what it translates, and how.
    var shape: String? { caller.plan.shape }

    /// Creates a plugin's codec; nil for a plugin without one.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if the configuration names no fields, or one that the server
    ///   sets.
    init?(_ caller: PluginCaller, _ dialect: Dialect) throws(SluiceError) {
        let plan = caller.plan
        guard let declaration = plan.manifest.codec, let toWire = plan.hooks[.toWire],
            let fromWire = plan.hooks[.fromWire]
        else { return nil }
        do throws(SluiceError) {
            fields = try declaration.fields(in: plan.config)
        } catch {
            throw SluiceError(.invalidArgument, "plugin \(plan.name): \(error.message)")
        }
        let rules = RecordCheck(dialect: dialect, schema: nil)
        if let field = fields.values.joined().filter({ rules.isSystem($0) }).min() {
            throw SluiceError(
                .invalidArgument,
                "plugin \(plan.name): the field \(field) is the server's, and no codec may translate it")
        }
        self.caller = caller
        (self.toWire, self.fromWire) = (toWire, fromWire)
        allowsFilters = declaration.allowsFilters
    }

    /// Returns the codecs of plugins in effect. A shadow translates nothing, because a server has one form of a value.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a field with two codecs, and the errors of
    ///   ``init(_:_:)``.
    static func codecs(of callers: [PluginCaller], _ dialect: Dialect) throws(SluiceError) -> [FieldCodec] {
        var codecs: [FieldCodec] = []
        for caller in callers where !caller.isShadow {
            guard let codec = try FieldCodec(caller, dialect) else { continue }
            for other in codecs {
                guard let field = codec.sharedField(with: other) else { continue }
                throw SluiceError(
                    .invalidArgument,
                    "the field \(field) has two codecs, of the plugins \(other.name) and \(codec.name)")
            }
            codecs.append(codec)
        }
        return codecs
    }

    private func sharedField(with other: FieldCodec) -> PropertyName? {
        for table in Set(fields.keys).union(other.fields.keys) {
            if let field = names(in: table).intersection(other.names(in: table)).min() { return field }
        }
        return nil
    }

    /// Returns the fields of a table.
    func names(in table: String) -> Set<PropertyName> {
        guard toWire.isFor(table: table) else { return [] }
        return Set((fields[table] ?? []) + (fields[CodecDeclaration.allTables] ?? []))
    }

    /// The direction of a translation.
    enum Way: Sendable {
        case toWire, fromWire
    }

    /// Translates values in one step.
    ///
    /// - Throws: ``FieldValues/Failure``; ``PluginFailure`` if values of `kv` cannot be saved.
    func translated(_ values: [FieldValues.Value], _ way: Way, in table: String) async throws -> [JSON] {
        if values.isEmpty { return [] }
        let plan = way == .toWire ? toWire : fromWire
        let outcome = await caller.host.translate(FieldValues(plan, table, values), of: caller.id)
        if let failure = outcome.failure { throw failure }
        guard outcome.values.count == values.count else { throw CancellationError() }
        if !outcome.saves.isEmpty { try await caller.save(outcome.saves, plan.kind) }
        return outcome.values
    }

    /// Returns the records with translated fields: all of them, or none after a failure. Null stays null.
    ///
    /// - Parameter request: the request of the exchange, for an error.
    /// - Throws: ``SluiceError`` of code `filter` with the plugin, the field and the record, and without the value.
    func translated(
        _ records: [JSON], _ way: Way, in table: String, idColumn: PropertyName, about request: SyncRequest
    ) async throws -> [JSON] {
        let names = names(in: table).sorted()
        var places: [Int] = []
        var values: [FieldValues.Value] = []
        for (place, record) in records.enumerated() {
            for name in names {
                guard let value = record[name], !value.isNull else { continue }
                places.append(place)
                values.append(FieldValues.Value(name, value))
            }
        }
        var records = records
        do {
            for (index, value) in try await translated(values, way, in: table).enumerated() {
                records[places[index]][values[index].field] = value
            }
        } catch let failure as FieldValues.Failure {
            let id = records[places[failure.index]][idColumn]?.textID
            throw error(failure, values[failure.index].field, id ?? request.context.recordID, request)
        } catch let failure as PluginFailure {
            throw SluiceError(plugin: failure, about: request)
        }
        return records
    }

    /// Returns the error for a value that cannot be translated.
    func error(
        _ failure: FieldValues.Failure, _ field: PropertyName, _ id: RecordID?, _ request: SyncRequest
    ) -> SluiceError {
        var named = failure.failure
        named.message = "the field \(field)\(id.map { " of \($0)" } ?? ""): \(named.message)"
        return SluiceError(
            plugin: named, .filter, table: request.context.table, recordID: id,
            operationID: request.context.operationID)
    }
}
