public import SluiceCore
internal import SluiceLua

extension FixtureRunner {
    /// Runs a fixture of `request`, `filter` or `response` with a filter in Swift in the plugin's place, so that one
    /// that was written anew can be held against the same fixtures. Compared are the requests that go on, the answer,
    /// and whether it fails; what only a script has (decision, log, `kv`, fuel) is not.
    public func run(_ fixture: PluginFixture, through filter: any Filter) async -> FixtureResult {
        func result(_ differences: [String]) -> FixtureResult {
            FixtureResult(path: fixture.path, name: fixture.name, hook: fixture.hook, differences: differences)
        }
        do {
            let members = try fixture.given.members(["request", "response", "scratch", "shared"])
            var script = fixture.world
            switch fixture.hook {
            case .filter: break
            case .request:
                script.next = [.response(try FixtureMessage.response(fixture.given.child(.object, "response")))]
            case .response:
                let response = members["response"] ?? fixture.given.child(.object, "response")
                script.next = [.response(try FixtureMessage.response(response))]
            default: return result(["a filter in Swift has no \(fixture.hook.rawValue)"])
            }
            let world = FixtureWorld(script)
            let request = try GivenReader(dialect: dialect, now: world.now)
                .request(members["request"] ?? fixture.given.child(.object, "request"))
            var compared = fixture
            compared.expectation = fixture.expectation.ofExchange
            let trial = try FixtureTrial(compared, bundle, dialect: dialect, tables: tables)
            return result(trial.differences(await Self.outcome(of: filter, request, world), world))
        } catch {
            return result([error.message])
        }
    }

    private static func outcome(
        of filter: any Filter, _ request: Request, _ world: FixtureWorld
    ) async -> FixtureTrial.Outcome {
        var outcome = FixtureTrial.Outcome()
        do {
            var answer = FixtureAnswer()
            answer.response = try await filter.handle(request) { try await world.exchange($0) }
            answer.request = world.sent.last
            outcome.answer = answer
        } catch {
            outcome.failure = PluginFailure(
                plugin: "\(type(of: filter))", hook: HookKind.filter.rawValue, ScriptFailure(.runtime, "\(error)"))
        }
        return outcome
    }
}

extension FixtureWorld {
    /// Answers a request as `next` does.
    ///
    /// - Throws: ``SluiceError`` of code `network` where the fixture says so, or has no answer.
    func exchange(_ request: Request) async throws -> Response {
        switch await perform(.next(request), within: nil) {
        case .response(let response, _): return response
        case .nextFailed(let message, _): throw SluiceError(.network, message)
        case .reply, .rows, .ended: throw SluiceError(.network, "there is no answer")
        }
    }
}
