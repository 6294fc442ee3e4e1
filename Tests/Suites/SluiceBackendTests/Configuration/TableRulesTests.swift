import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct TableRulesTests {
    private func read(_ text: String) throws -> BackendConfiguration {
        try BackendConfiguration(yaml: text, file: "backend.yaml", directory: "/srv")
    }

    private func table(_ rules: String) throws -> BackendConfiguration.Table? {
        try read("database: sqlite:x\nauth: { secretVariable: S }\ntables:\n  t: \(rules)").tables.first
    }

    @Test("every rule is read")
    func whole() throws {
        let configuration = try read(
            """
            database: sqlite:x
            auth: { secretVariable: SLUICE_JWT_SECRET, issuer: me, audience: you }
            tables:
              notes:
                columns: { owner: string, text: string, stars: integer }
                access: { default: authenticated, delete: disabled }
                unauthorizedStatus: 403
                perUser: owner
                view: stars ge 1 and text ne null
                recordsExpire: 30d
                tombstonesExpire: PT12H
            """)
        #expect(
            configuration.authentication
                == .init(secret: .variable("SLUICE_JWT_SECRET"), issuer: "me", audience: "you"))
        var access = TableAccess(.authenticated)
        access[.delete] = .disabled
        #expect(
            configuration.tables == [
                .init(
                    "notes",
                    columns: [.init("owner", .string), .init("text", .string), .init("stars", .integer)],
                    access: access, unauthorizedStatus: 403, perUser: "owner",
                    view: try QueryExpression(odata: "stars ge 1 and text ne null"),
                    recordsExpire: .seconds(30 * 86_400), tombstonesExpire: .seconds(43_200))
            ])
    }

    @Test("access is one level, or levels by operation over the usual one")
    func access() throws {
        #expect(try table("{ access: authenticated }")?.access == .authenticated)
        #expect(try table("{ access: disabled }")?.access == TableAccess(.disabled))
        #expect(try table("{}")?.access == .anonymous)
        #expect(try table("{ perUser: owner }")?.access == .authenticated)
        let some = try #require(try table("{ access: { insert: authenticated, delete: disabled } }")).access
        #expect(some[.read] == .anonymous && some[.update] == .anonymous && some[.undelete] == .anonymous)
        #expect(some[.insert] == .authenticated && some[.delete] == .disabled)
        let own = try #require(try table("{ perUser: owner, access: { delete: disabled } }")).access
        #expect(own[.read] == .authenticated && own[.delete] == .disabled)
    }

    @Test(
        "lengths of time have units, and none is a guess",
        arguments: [
            ("30d", 2_592_000), ("2w", 1_209_600), ("12h", 43_200), ("90m", 5400), ("45s", 45), ("P30D", 2_592_000),
            ("PT12H", 43_200), ("P1DT12H30M5S", 131_405), ("P2W", 1_209_600), ("PT1M", 60), ("P1M", nil),
            ("P1Y", nil), ("30", nil), ("d", nil), ("", nil), ("P", nil), ("PT", nil), ("P1DT", nil), ("0d", nil),
            ("-1d", nil), ("1.5d", nil), ("1d2h", nil), ("PT1H1D", nil), ("PT1M1H", nil),
            ("99999999999999999999d", nil),
            ("9223372036854775807w", nil), ("40000d", nil), ("30 d", nil), ("P1H", nil), ("PT1D", nil), ("٣d", nil),
        ] as [(String, Int64?)])
    func durations(text: String, seconds: Int64?) {
        #expect(DurationText.interval(text) == seconds.map { .seconds($0) }, "\(text)")
    }

    @Test(
        "a rule that cannot be is named with its place",
        arguments: [
            ("{ access: autenticated }", "4:16: ", "did you mean authenticated?"),
            ("{ access: { read: nobody } }", "4:24: ", "use anonymous, authenticated, disabled"),
            ("{ access: { reed: anonymous } }", "4:18: ", "did you mean read?"),
            ("{ unauthorizedStatus: 200 }", "4:28: ", "400 to 499"),
            ("{ perUsr: x }", "4:8: ", "did you mean perUser?"),
            ("{ perUser: ownr, columns: { owner: string } }", "4:17: ", "did you mean owner?"),
            ("{ perUser: owner, columns: { owner: integer } }", "4:17: ", "type integer"),
            ("{ perUser: version }", "4:17: ", "not version"),
            ("{ perUser: owner, access: anonymous }", "4:32: ", "lets everyone read"),
            ("{ view: n eq }", "4:18: ", "at character 4"), ("{ view: 'n eq $' }", "4:20: ", "at character 5"),
            ("{ view: \"n eq\\t$\" }", "4:14: ", "at character 5"),
            ("{ view: tolower(1) eq 'a' }", "4:14: ", "view: "),
            ("{ view: nn eq 1, columns: { n: integer } }", "4:14: ", "did you mean n?"),
            ("{ view: n eq 'x', columns: { n: integer } }", "4:14: ", "compares"),
            ("{ recordsExpire: 30 days }", "4:23: ", "such as 30d"),
            ("{ recordsExpire: P1M }", "4:23: ", "such as 30d"),
            ("{ tombstonesExpire: soon }", "4:26: ", "tombstonesExpire is a number"),
            ("{ access: }", "4:", "access must be a text"),
        ])
    func mistakes(rules: String, place: String, reason: String) {
        let error = #expect(throws: SluiceError.self) { _ = try table(rules) }
        #expect(error?.message.hasPrefix("backend.yaml:\(place)") == true, "\(String(describing: error))")
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("users need an authentication, and that needs to say where the secret is")
    func authentication() throws {
        for rules in ["access: authenticated", "access: { insert: authenticated }", "perUser: owner"] {
            let error = #expect(throws: SluiceError.self) {
                _ = try read("database: sqlite:x\ntables:\n  t: { \(rules) }")
            }
            #expect(error?.message.contains("says nothing of auth") == true, "\(String(describing: error))")
        }
        for (auth, reason) in [
            ("{}", "secretVariable is missing"), ("{ secretVariabel: x }", "did you mean secretVariable?"),
            ("{ secretVariable: 'A=B' }", "name of a variable"), ("yes", "mapping with the keys"),
        ] {
            let error = #expect(throws: SluiceError.self) {
                _ = try read("database: sqlite:x\nauth: \(auth)\ntables: {t: }")
            }
            #expect(error?.message.hasPrefix("backend.yaml:2:") == true, "\(String(describing: error))")
            #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        }
    }

    @Test("what a program sets is checked like what a file says, and a secret that is missing stops the start")
    func swiftValues() async {
        var rules = BackendConfiguration.Table("t", unauthorizedStatus: 500)
        await #expect(throws: SluiceError.self) { try await Backend(BackendConfiguration(tables: [rules])) }
        rules.unauthorizedStatus = 401
        rules.recordsExpire = .zero
        await #expect(throws: SluiceError.self) { try await Backend(BackendConfiguration(tables: [rules])) }
        rules.recordsExpire = nil
        let secret = TokenSecret.variable("SLUICE_NO_SUCH_VARIABLE")
        let error = await #expect(throws: SluiceError.self) {
            try await Backend(BackendConfiguration(tables: [rules], authentication: .init(secret: secret)))
        }
        #expect(error?.message.contains("SLUICE_NO_SUCH_VARIABLE is not set") == true)
    }
}
