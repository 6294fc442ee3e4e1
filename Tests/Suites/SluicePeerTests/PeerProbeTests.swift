import Sluice
import SluiceProbe
import Testing

@Suite("A probe of others' services in their plain modes", .serialized, .enabled(if: Peer.areHere))
struct PeerProbeTests {
    private func report(_ peer: Peer, _ table: String, scratch: String?) async throws -> ProbeReport {
        try await peer.fail("[]")
        var options = ProbeOptions(table: table)
        options.scratch = scratch
        return try await ServerProbe(
            endpoint: try Endpoint(peer.root + peer.service), dialect: .odata(peer.version), transport: peer.transport,
            options: options
        ).run()
    }

    @Test("mock-sap, v2 and v4", arguments: [false, true]) func sap(_ writes: Bool) async throws {
        for (peer, table) in [
            (Peer.sapV2, "BusinessPartnerSet"), (Peer.sapV2, "ProductSet"), (Peer.sapV4, "BusinessPartner"),
        ] {
            let report = try await report(try #require(peer), table, scratch: writes ? table : nil)
            #expect(report.findings.isEmpty, "\(table): \(report.findings.map { "\($0.code): \($0.seen)" })")
        }
    }

    @Test(
        "odatapy; written to, it has one fault: a text with half an emoji makes all its lists fail",
        arguments: [false, true])
    func odatapy(_ writes: Bool) async throws {
        for table in ["Customers", "Orders"] {
            let report = try await report(try #require(Peer.odatapy), table, scratch: writes ? table : nil)
            #expect(
                report.findings.map(\.code) == (writes ? [.halfEmojiKept] : []),
                "\(table): \(report.findings.map { "\($0.code): \($0.seen)" })")
        }
    }
}
