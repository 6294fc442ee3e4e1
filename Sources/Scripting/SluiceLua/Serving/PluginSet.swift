internal import SluiceCore

/// Plugins that serve together, in the order of their chains. A set is immutable: a reload replaces it.
final class PluginSet: Sendable {
    /// The set's number, from 1.
    let version: Int
    /// The plugins that run.
    let callers: [PluginCaller]
    /// The chain of filters, the outermost first: plugins, and the application's own.
    let filters: FilterRun
    let conflict: [PluginHook]
    let enqueue: [PluginHook]
    let push: [PluginHook]
    let pushError: [PluginHook]
    let pull: [PluginHook]
    let schedule: [PluginHook]
    let event: [PluginHook]
    /// The plugins around requests to a server's tables, the outermost first.
    let table: [TableLink]
    let dialect: Dialect
    private let schemas: [String: TableSchema]

    /// Orders the plugins in each chain.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if their placements contradict each other.
    init(version: Int, _ callers: [PluginCaller], known: Set<String>, _ options: PluginOptions) throws(SluiceError) {
        self.version = version
        self.callers = callers
        dialect = options.dialect
        schemas = Dictionary(options.tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        let links = callers.compactMap { caller in LuaFilter(caller).placed }
        filters = FilterRun(
            try ChainOrder.resolve(links + options.filters, known: known),
            codec: CodecFilter(codecs: try FieldCodec.codecs(of: callers, options.dialect), dialect: options.dialect))
        func chain(_ chain: HookChain) throws(SluiceError) -> [PluginHook] {
            var hooks: [Placed<PluginHook>] = []
            for caller in callers {
                for kind in chain.hooks {
                    guard let hook = caller.plan.hooks[kind], hook.match.isPossible else { continue }
                    hooks.append(
                        Placed(
                            PluginHook(caller: caller, hook: hook), placement: hook.placement,
                            specificity: chain == .conflict ? hook.match.specificity : 0))
                    break
                }
            }
            let names = Set(callers.map(\.plan.name))
            return try ChainOrder.resolve(hooks, known: known.union(names)).map(\.link)
        }
        conflict = try chain(.conflict)
        enqueue = try chain(.enqueue)
        push = try chain(.push)
        pushError = try chain(.pushError)
        pull = try chain(.pull)
        schedule = try chain(.schedule)
        event = try chain(.event)
        table = try ChainOrder.resolve(
            callers.compactMap { TableLink($0).placed }, known: known.union(callers.map(\.plan.name))
        ).map(\.link)
    }

    func hooks(at point: HookPoint) -> [PluginHook] {
        switch point {
        case .beforeEnqueue: enqueue
        case .beforePush: push
        case .onPushError: pushError
        case .afterPull: pull
        }
    }

    /// Returns the rules for a table's records from one plugin.
    func check(_ table: String, of plugin: PluginHook) -> RecordCheck {
        check(table).of(plugin.caller.plan, table: table)
    }

    /// Returns the rules for a table's records without a plugin's permissions.
    func check(_ table: String) -> RecordCheck { RecordCheck(dialect: dialect, schema: schemas[table]) }
}

extension LuaFilter {
    /// The link with its place; nil for a plugin without hooks around an exchange.
    fileprivate var placed: Placed<any RequestFilter>? {
        let hook = [filter, request, response].compactMap { $0 }.first(where: \.match.isPossible)
        return hook.map { Placed(self, placement: $0.placement) }
    }
}

/// Filters in their order, as one link of a client's chain. An error of one names its place.
struct FilterRun: Sendable {
    private let filters: [Ordered<any RequestFilter>]
    /// The codecs, which come last.
    let codec: CodecFilter?

    /// The filters, the outermost first. A codec with fields comes after the last.
    init(_ filters: [Ordered<any RequestFilter>], codec: CodecFilter? = nil) {
        self.codec = codec
        guard let codec, !codec.codecs.isEmpty else {
            self.filters = filters
            return
        }
        let last = Placed<any RequestFilter>(codec, placement: Placement("codec"))
        self.filters = filters + [Ordered(placed: last, why: "closest to the wire")]
    }

    /// Whether none of them holds anything while it waits for an answer.
    var takesPages: Bool { filters.allSatisfy(\.link.takesPages) }

    /// Sends a request through the filters, and then to `next`.
    func send(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await send(request, from: 0, next)
    }

    private func send(_ request: SyncRequest, from index: Int, _ next: RequestFilter.Next) async throws -> SyncResponse
    {
        guard filters.indices.contains(index) else { return try await next(request) }
        let filter = filters[index]
        return try await FilterChain.pass(request, .filter, "filter \(filter.name)") {
            try await filter.link.handle(request) { try await send($0, from: index + 1, next) }
        }
    }
}
