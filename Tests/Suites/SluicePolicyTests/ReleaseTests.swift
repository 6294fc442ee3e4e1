import SluiceCore
import SluiceLua
import SluicePolicy
import Testing

@Suite("A release: one file with the same bytes for the same content, and its differences in words")
struct ReleaseTests {
    private let signer = PolicySigner()

    @Test("its file is read as it was written, and is the same each time") func roundTrip() throws {
        var release = release(7)
        release.audience.labels = ["ring": "canary", "area": "nörd"]
        release.audience.share = 12_345
        (release.validFrom, release.validUntil) = (noon, after(60))
        release.revokes = ["abc"]
        let bytes = try signed(release, signer)
        #expect(try SignedRelease(bytes: bytes).unverified() == release)
        #expect(try signed(release, signer) == bytes)
        let trust = PolicyTrust([.init(signer.key)])
        let device = PolicyDeviceName(id: "x", labels: release.audience.labels)
        var past = PolicyTrust.Past()
        (past.name, past.version, past.digests) = ("shops", 7, release.digests)
        #expect(try trust.release(from: bytes, for: device, at: noon, after: past) == release)
    }

    @Test("shares are percents with up to three digits behind the point") func shares() {
        for (text, share) in [("100%", 100_000), ("1%", 1_000), ("0.5%", 500), ("0.125%", 125), ("0%", 0)] {
            #expect(PolicyAudience.share(text) == share)
            #expect(PolicyAudience.text(share) == text)
        }
        for text in ["", "%", "1", "101%", "100.001%", "-1%", "1.%", "0.1234%", "1.2.3%", "1e1%", "x%", "٣%"] {
            #expect(PolicyAudience.share(text) == nil, "\(text)")
        }
    }

    @Test("a share has about as many devices as it says, other ones for each version, and only grows") func audience() {
        let devices = (0..<20_000).map { "device-\($0)" }
        func chosen(_ share: Int, _ version: Int) -> Set<String> {
            Set(devices.filter { PolicyAudience.place(of: $0, in: "shops", version) < share })
        }
        let (one, ten) = (chosen(1_000, 1), chosen(10_000, 1))
        #expect((120...280).contains(one.count) && (1_800...2_200).contains(ten.count))
        #expect(one.isSubset(of: ten))
        #expect(ten.intersection(chosen(10_000, 2)).count < 320)
    }

    @Test("differences are told in words, permissions first") func differences() throws {
        let old = release(1)
        var new = release(
            2, script: "return decide.server{}",
            manifest: """
                { "name": "stock", "version": "2.0.0", "api": "1.0", "description": "Decides.",
                  "hooks": { "on_conflict": { "match": { "tables": ["notes"] } } },
                  "permissions": { "http": ["api.example.com"], "clock": true } }
                """)
        new.audience.share = 1_000
        let lines = try ReleaseDifference(from: old, to: new).lines
        #expect(
            lines.map { "\($0.about): \($0.text)" } == [
                "permissions: stock may now ask api.example.com by http", "permissions: stock may now read the clock",
                "devices: 100% of the devices becomes 1%", "plugins: stock 1.0.1 becomes 2.0.0",
                "files: stock/main.lua changes", "files: stock/plugin.json changes",
            ])
        #expect(try ReleaseDifference(from: old, to: old).lines.isEmpty)
    }

    @Test("the device's labels take the place of the policy's deployment, and a file for decisions is refused")
    func deployment() throws {
        let labelled = release(
            1, policy: "deployment: { id: shop, labels: { ring: beta } }\nplugins: { stock: { path: p } }\n")
        #expect(try labelled.read().deployment.labels == ["ring": "beta"])
        let device = Deployment(id: "d1", labels: ["ring": "canary"])
        #expect(try labelled.read(for: device).plans.first?.deployment == device)
        for policy in [
            "decisions: { file: /etc/passwd }\nplugins: {}\n", "decisions: { file: ../state.json }\nplugins: {}\n",
            "plugins: { other: { path: plugins/stock } }\n", "plugins: { stock: {} }\n", "plugins: [", "",
        ] {
            #expect(throws: SluiceError.self) { try release(1, policy: policy).read() }
        }
    }
}
