import HTTPTypes
import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("Filters in Swift, in one chain with plugins")
struct FilterRunTests {
    private let trace = Recorder<String>()
    private struct Odd: Error {}

    private func link(
        _ name: String, _ band: FilterBand = .default, before: [String] = [], after: [String] = []
    ) -> Placed<any RequestFilter> {
        let tap = Tap { [trace] request, next in
            trace.add(request.head.headerFields[field("X-Probe")] == nil ? name : "\(name) after the plugin")
            return try await next(request)
        }
        return Placed(tap, placement: Placement(name, band: band, before: before, after: after))
    }

    private func plugins(_ filters: [Placed<any RequestFilter>]) async throws -> Plugins {
        let text = PluginText(
            ["request"],
            """
            return { request = function(req, ctx) req.headers:set("X-Probe", "probe") end }
            """)
        return try await text.loaded(PluginOptions(filters: filters))
    }

    @Test("filters stand where they are placed, in whatever order they are given, and the plugin among them")
    func order() async throws {
        let filters = [
            link("observe", .observe), link("auth", .auth), link("middle", after: ["probe"]),
            link("high", before: ["probe"]),
        ]
        for filters in [filters, filters.reversed()] {
            let before = trace.all.count
            _ = try await plugins(filters).send(.sample(), to: ScriptedTransport(otherwise: .json(200, "{}")))
            #expect(
                trace.all.dropFirst(before) == [
                    "auth", "high", "middle after the plugin", "observe after the plugin",
                ])
        }
    }

    @Test("a filter may answer itself, and may call next twice")
    func calls() async throws {
        let transport = ScriptedTransport(otherwise: .json(200, "{}"))
        let twice = Placed<any RequestFilter>(
            Tap { request, next in
                _ = try await next(request)
                return try await next(request)
            }, placement: Placement("a", before: ["probe"]))
        let answer = Placed<any RequestFilter>(Tap { _, _ in .json(207, "mine") }, placement: Placement("b"))
        let sent = try await plugins([twice, link("c", after: ["probe"])]).send(.sample(), to: transport)
        #expect(sent.status == 200 && transport.requests.count == 2)
        #expect(trace.all == ["c after the plugin", "c after the plugin"])
        let answered = try await plugins([answer, link("c", after: ["probe"])]).send(.sample(), to: transport)
        #expect(answered.status == 207 && transport.requests.count == 2)
    }

    @Test("an error of a filter names its place")
    func errors() async throws {
        let odd = Placed<any RequestFilter>(Tap { _, _ in throw Odd() }, placement: Placement("com.example.odd"))
        let plugins = try await plugins([link("a"), odd])
        let error = await #expect(throws: SluiceError.self) {
            try await plugins.send(.sample(), to: ScriptedTransport())
        }
        #expect(error?.code == .filter && error?.message == "filter com.example.odd failed" && error?.cause is Odd)
    }

    @Test("where the places contradict each other, nothing is loaded and the reason is told")
    func disorder() async throws {
        let filters = [link("a", before: ["b"]), link("b", before: ["a"])]
        let error = await #expect(throws: SluiceError.self) { try await plugins(filters) }
        #expect(error?.message.contains("circle: a → b → a") == true)
    }
}
