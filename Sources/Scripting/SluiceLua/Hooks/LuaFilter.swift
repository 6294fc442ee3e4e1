internal import SluiceCore
internal import Synchronization

/// A plugin's `request`, `filter` and `response` as one link of the chain. The request passes them in that order, and
/// the answer reaches `response` last.
struct LuaFilter: RequestFilter {
    /// The number of times that a plugin may repeat a request, or ask for a pause before one.
    static let maximumRetries = 3

    let caller: PluginCaller
    let request: HookPlan?
    let filter: HookPlan?
    let response: HookPlan?

    init(_ caller: PluginCaller) {
        self.caller = caller
        request = caller.plan.hooks[.request]
        filter = caller.plan.hooks[.filter]
        response = caller.plan.hooks[.response]
    }

    /// A `filter` hook may hold its plugin while it waits for the answer.
    var takesPages: Bool { filter == nil }

    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        let subject = MatchSubject(request)
        let before = self.request.flatMap { $0.matches(subject) ? $0 : nil }
        let around = filter.flatMap { $0.matches(subject) ? $0 : nil }
        let after = response.flatMap { $0.match.beforeAnswer.matches(subject) && $0.only.matches(subject) ? $0 : nil }
        guard before != nil || around != nil || after != nil else { return try await next(request) }
        let exchange = request.context.exchange as? PluginExchange ?? PluginExchange()
        var request = request
        request.context.exchange = exchange
        return try await run(request, exchange, before, around, after, next)
    }

    private func run(
        _ original: SyncRequest, _ exchange: PluginExchange, _ before: HookPlan?, _ around: HookPlan?,
        _ after: HookPlan?, _ next: RequestFilter.Next
    ) async throws -> SyncResponse {
        var request = original
        if let before {
            switch try await ask(before, request, exchange) {
            case .goOn(let edited): request = edited
            case .answer(let response): return response
            }
        }
        var repeats = 0
        while true {
            let start = caller.services.environment.steady()
            let response =
                if let around { try await ask(around, request, exchange, next) } else { try await next(request) }
            guard let after else { return response }
            let elapsed = start.duration(to: caller.services.environment.steady())
            switch try await ask(after, request, response, elapsed, exchange) {
            case .answer(let response): return response
            case .again(let pause):
                // A plugin that asks without end gets the last answer.
                guard repeats < Self.maximumRetries else { return response }
                repeats += 1
                request.context.attempt += 1
                try await caller.services.environment.sleep(pause)
            }
        }
    }

    // MARK: - request

    private enum BeforeStep { case goOn(SyncRequest), answer(SyncResponse) }

    private func ask(_ hook: HookPlan, _ original: SyncRequest, _ exchange: PluginExchange) async throws -> BeforeStep {
        for _ in 0...Self.maximumRetries {
            let verdict: RequestVerdict
            do {
                verdict = try await asked(hook, original, exchange, Self.noNext) {
                    try RequestVerdict.read($0, $1)
                }
            } catch let failure as PluginFailure {
                if hook.onError == .failOpen || caller.isShadow { return .goOn(original) }
                throw SluiceError(plugin: failure, about: original)
            }
            if caller.isShadow { return .goOn(original) }
            switch verdict {
            case .pass(let edited): return .goOn(edited ?? original)
            case .respond(let response): return .answer(response)
            case .fail(let message): throw refusal(message, original)
            case .retry(let pause):
                try await caller.services.environment.sleep(pause)
            }
        }
        throw refusal("request asked for a pause \(Self.maximumRetries) times", original)
    }

    // MARK: - filter

    private func ask(
        _ hook: HookPlan, _ request: SyncRequest, _ exchange: PluginExchange, _ next: RequestFilter.Next
    ) async throws -> SyncResponse {
        let isShadow = caller.isShadow
        let last = Mutex<SyncResponse?>(nil)
        do {
            let verdict: FilterVerdict = try await asked(
                hook, request, exchange,
                { edited in
                    // A shadow sends the original request, and only once.
                    if isShadow, let response = last.withLock({ $0 }) { return response }
                    let response = try await next(isShadow ? request : edited)
                    last.withLock { $0 = response }
                    return response
                },
                { result, _ in try FilterVerdict.read(result) })
            switch verdict {
            case .answer(let response) where !isShadow: return response
            case .fail(let message) where !isShadow: throw refusal(message, request)
            default: break
            }
        } catch let failure as PluginFailure {
            guard hook.onError == .failOpen || isShadow else { throw SluiceError(plugin: failure, about: request) }
        }
        if let response = last.withLock({ $0 }) { return response }
        return try await next(request)
    }

    // MARK: - response

    private enum BehindStep { case answer(SyncResponse), again(Duration) }

    private func ask(
        _ hook: HookPlan, _ request: SyncRequest, _ response: SyncResponse, _ elapsed: Duration,
        _ exchange: PluginExchange
    ) async throws -> BehindStep {
        var subject = MatchSubject(request)
        subject.status = response.status
        guard hook.matches(subject) else { return .answer(response) }
        do {
            let verdict = try await asked(hook, request, response, elapsed, exchange)
            if caller.isShadow { return .answer(response) }
            switch verdict {
            case .pass(let edited): return .answer(edited ?? response)
            case .retry(let pause): return .again(pause)
            case .fail(let message): throw refusal(message, request)
            }
        } catch let failure as PluginFailure {
            if hook.onError == .failOpen || caller.isShadow { return .answer(response) }
            throw SluiceError(plugin: failure, about: request)
        }
    }

    // MARK: - calls

    private func asked<Verdict: Sendable>(
        _ hook: HookPlan, _ request: SyncRequest, _ exchange: PluginExchange,
        _ next: RequestFilter.Next,
        _ read: @escaping @Sendable (HookReturn, RequestEditor) throws -> HookAnswer
    ) async throws -> Verdict {
        let editor = caller.editor(of: request)
        var arguments = [LuaArgument("req", editor.given)]
        if hook.kind == .filter { arguments.append(LuaArgument("next", .object)) }
        return try await asked(hook, arguments, [request.body], editor, exchange, next) { try read($0, editor) }
    }

    private func asked(
        _ hook: HookPlan, _ request: SyncRequest, _ response: SyncResponse, _ elapsed: Duration,
        _ exchange: PluginExchange
    ) async throws -> ResponseVerdict {
        let editor = caller.editor(of: request)
        let given = GivenResponse(
            response, body: 0, elapsed: elapsed, request: editor.seen, hiding: editor.isHidden)
        return try await asked(
            hook, [LuaArgument("res", given.document)], [response.body], editor, exchange, Self.noNext
        ) { try ResponseVerdict.read($0, given, editor) }
    }

    private func asked<Verdict: Sendable>(
        _ hook: HookPlan, _ arguments: [LuaArgument], _ bodies: [MessageBody], _ editor: RequestEditor,
        _ exchange: PluginExchange, _ next: RequestFilter.Next,
        _ interpret: @escaping @Sendable (HookReturn) throws -> HookAnswer
    ) async throws -> Verdict {
        let bags = exchange.bags(of: caller.plan.name)
        let context = editor.request.context
        let call = HookCall(
            plan: hook, arguments: arguments, bodies: bodies, editor: editor, table: context.table,
            recordID: context.recordID, scratch: bags.scratch, shared: bags.shared, interpret: interpret)
        let reply = try await caller.ask(call, as: Verdict.self, next: next)
        exchange.keep(scratch: reply.scratch, shared: reply.shared, of: caller.plan.name)
        return reply.value
    }

    private static let noNext: RequestFilter.Next = { _ in throw CancellationError() }

    private func refusal(_ message: String, _ request: SyncRequest) -> SluiceError {
        SluiceError(
            .filter, "plugin \(caller.plan.name): \(message)", table: request.context.table,
            recordID: request.context.recordID, operationID: request.context.operationID)
    }
}

/// The values that plugins of one exchange share: `ctx.shared` between all of them, `ctx.scratch` between the hooks of
/// one.
final class PluginExchange: Sendable {
    private struct State {
        var shared: JSON?
        var scratch: [String: JSON] = [:]
    }
    private let state = Mutex(State())

    /// Returns the plugin's own values and the shared ones; nil for empty ones.
    func bags(of plugin: String) -> (scratch: JSON?, shared: JSON?) {
        state.withLock { ($0.scratch[plugin], $0.shared) }
    }

    func keep(scratch: JSON?, shared: JSON?, of plugin: String) {
        guard scratch != nil || shared != nil else { return }
        state.withLock {
            if let scratch { $0.scratch[plugin] = scratch }
            if let shared { $0.shared = shared }
        }
    }
}
