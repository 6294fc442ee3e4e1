import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceProbe

@Suite(.timeLimit(.minutes(5))) struct ProbeTests {
    @Test("a fault that shows by reading is named", arguments: ProbeCase.reading) func reading(_ fault: ProbeCase)
        async throws
    {
        try await expect(fault)
    }

    @Test("a fault that shows by writing is named", arguments: ProbeCase.writing) func writing(_ fault: ProbeCase)
        async throws
    {
        try await expect(fault)
    }

    private func expect(_ fault: ProbeCase) async throws {
        let (report, _) = try await fault.report()
        let codes = report.findings.map(\.code)
        #expect(codes.contains(fault.code), "\(fault): \(report.findings.map { "\($0.code): \($0.seen)" })")
        #expect(!"\(report.json)".contains(ProbeCase.token))
    }

    @Test("a server without a fault has no finding, and is asked for little", arguments: [false, true])
    func faultless(_ writes: Bool) async throws {
        for prepare: @Sendable (ModelServer) -> Void in [
            { _ in }, { ProbeCase.change($0) { $0.issuesChangeTokens = true } },
            { ProbeCase.change($0) { $0.givesDigests = true } }, ProbeCase.takesBatches,
        ] {
            let (report, model) = try await ProbeCase(.webPage, "none", writes: writes, prepare: prepare).report()
            #expect(report.findings.isEmpty, "\(report.findings.map { "\($0.code): \($0.seen)" })")
            #expect(report.requests == model.requests.count)
            #expect(report.requests < 200)
            let live = model.rows("probes").filter { $0.value["deleted"] == false }
            #expect(live.isEmpty, "\(live.keys)")
            #expect(model.rows("probes").keys.allSatisfy { $0.text.lowercased().hasPrefix("sluice-probe-") })
            #expect(model.rows("probes").isEmpty == !writes)
        }
    }

    @Test("without a scratch table nothing but reads is sent, and with one no other table is changed")
    func writesOnlyWhereTold() async throws {
        for fault in ProbeCase.reading + ProbeCase.writing {
            let server = FaultyServer.model(pageSize: fault.pageSize)
            fault.prepare(server)
            _ = try? await ProbeCase.probe(FaultyServer(server, fault.fault), writes: fault.writes)
            let changes = server.requests.filter { $0.method != "GET" }
            #expect(fault.writes || changes.isEmpty, "\(fault)")
            #expect(
                changes.allSatisfy { $0.has("/tables/probes") || $0.has("/tables/own") || $0.has("/tables/$batch") },
                "\(fault): \(changes.map(\.target))")
        }
    }

    @Test("a probe ends at its bounds, with what it has seen; its rows go")
    func bounded() async throws {
        for requests in [10, 15, 25, 40, 60] {
            let (report, model) = try await ProbeCase(.incomplete, "none", writes: true).report(requests: requests)
            #expect(report.findings.map(\.code) == [.incomplete])
            #expect(report.requests <= requests + 61)
            #expect(model.rows("probes").allSatisfy { $0.value["deleted"] == true }, "\(requests)")
        }
    }

    @Test("a slow server, and one whose clock is another, are named") func clocks() async throws {
        let (slow, _) = try await ProbeCase(.slow, "none").report(slowness: .seconds(6))
        #expect(slow.findings.map(\.code) == [.slow])
        let (off, _) = try await ProbeCase(.clockOff, "none").report(now: .seconds(-3600))
        #expect(off.findings.map(\.code) == [.clockOff])
    }

    @Test("forty faults at least have a case, and every code has its texts") func covered() {
        let codes = Set((ProbeCase.reading + ProbeCase.writing).map(\.code))
        #expect(codes.count >= 40, "\(codes.count)")
        let left = Set(ProbeFinding.Code.allCases).subtracting(codes).subtracting([
            .slow, .incomplete, .clockOff, .metadataUnread,
        ])
        #expect(left.isEmpty, "\(left)")
        for code in ProbeFinding.Code.allCases {
            let finding = ProbeFinding(code, "x")
            #expect(![finding.cost, finding.server, finding.sluice].contains(""), "\(code)")
        }
    }

    @Test("no text of a server gets into a report with its control characters") func plain() async throws {
        let fault = ProbeCase(
            .lookupMissing, "escapes",
            FaultyServer.refuse(404, #"{"error":"\u001b[2Jgone\nSecond line\u202e"}"#) { $0.isRecord(of: "items") })
        let (report, _) = try await fault.report()
        let texts = report.findings.map(\.seen) + report.facts.map(\.text)
        #expect(!report.findings.isEmpty)
        #expect(texts.allSatisfy { text in text.unicodeScalars.allSatisfy { $0.value >= 32 && $0 != "\u{202e}" } })
    }
}
