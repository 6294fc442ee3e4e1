import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct LoadConfigurationTests {
    private func read(_ text: String) throws -> BackendConfiguration {
        try BackendConfiguration(
            yaml: "database: sqlite:x\n\(text)\ntables: {t: }", file: "backend.yaml", directory: "/srv")
    }

    @Test("limits, the rate and the file of keys are read")
    func whole() throws {
        let configuration = try read(
            """
            auth: { jwks: keys.json, issuer: me }
            rateLimit: { requests: 20, burst: 100, addressHeader: X-Forwarded-For, clients: 500 }
            host: "::"
            metrics: on
            fleet: { table: t, tokenFile: operator.token, silentAfter: 15m }
            proxies: [10.0.0.0/8, "fd00::1"]
            limits: { body: 1048576, page: 2097152, head: 16384, headerFields: 50, connections: 2000, idle: 20s, request: 1h, answer: PT30S }
            """)
        #expect(configuration.authentication == .init(keyFile: "/srv/keys.json", issuer: "me"))
        #expect(
            configuration.rateLimit
                == .init(requestsPerSecond: 20, burst: 100, addressHeader: "X-Forwarded-For", clients: 500))
        var limits = BackendConfiguration.Limits()
        #expect(configuration.host == "::" && configuration.metrics)
        #expect(
            configuration.fleet
                == .init(table: "t", tokenFile: "/srv/operator.token", silentAfter: .seconds(900)))
        #expect(configuration.proxies.map(\.description) == ["10.0.0.0/8", "fd00::1"])
        limits.bodyBytes = 1 << 20
        limits.pageBytes = 2 << 20
        limits.headBytes = 16_384
        limits.headerFields = 50
        limits.connections = 2000
        limits.idleTime = .seconds(20)
        limits.requestTime = .seconds(3600)
        limits.answerTime = .seconds(30)
        #expect(configuration.limits == limits)
        let both = try read("auth: { secretVariable: S, jwks: /etc/keys.json }").authentication
        #expect(both?.secret == .variable("S") && both?.keyFile == "/etc/keys.json")
    }

    @Test("without them there are limits, and no rate")
    func defaults() throws {
        let configuration = try read("requestIdsExpire: 1h")
        #expect(configuration.rateLimit == nil)
        #expect(configuration.limits == .init())
        #expect(configuration.fleet == nil)
        #expect(try read("rateLimit:").rateLimit == nil)
    }

    @Test(
        "a mistake is named with its place",
        arguments: [
            ("rateLimit: { requests: 20 }", "backend.yaml:2:12: ", "burst"),
            ("rateLimit: { requests: 0, burst: 1 }", "backend.yaml:2:12: ", "requests of rateLimit is 1 to"),
            ("rateLimit: { requests: 1, burst: 1, addressHeader: \"a b\" }", "backend.yaml:2:12: ", "addressHeader"),
            ("rateLimit: { requests: 1, burts: 1 }", "backend.yaml:2:27: ", "did you mean burst?"),
            ("limits: { body: 12 }", "backend.yaml:2:9: ", "body of limits is 1024 to"),
            ("limits: { page: 12 }", "backend.yaml:2:9: ", "page of limits is 1024 to"),
            ("proxies: [10.0.0.0/40]", "backend.yaml:2:10: ", "proxies are addresses or networks"),
            ("limits: { headerFields: 2000 }", "backend.yaml:2:9: ", "headerFields of limits is 10 to 1000"),
            ("limits: { idle: 2d }", "backend.yaml:2:9: ", "idle of limits is 1 second to 1 day"),
            ("limits: { idle: 20 }", "backend.yaml:2:17: ", "such as 30d"),
            ("limits: { connections: 0 }", "backend.yaml:2:9: ", "connections of limits"),
            ("fleet: { table: t }", "backend.yaml:2:8: ", "fleet has a tokenFile"),
            ("fleet: { tokenFile: x }", "backend.yaml:2:8: ", "the table policy_status, which is not configured"),
            ("fleet: { table: t, tokenFile: x, silentAfter: 0s }", "backend.yaml:2:47: ", "such as 30d"),
            ("auth: { issuer: me }", "backend.yaml:2:7: ", "or jwks"),
        ])
    func mistakes(text: String, place: String, reason: String) {
        let error = #expect(throws: SluiceError.self) { _ = try read(text) }
        #expect(error?.message.hasPrefix(place) == true, "\(String(describing: error))")
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }
}
