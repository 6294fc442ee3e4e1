import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy
import Testing

@Suite("Releases that a device must not take: refused with the reason, and the serving one stays")
struct ReleaseAttackTests {
    private let signer = PolicySigner()
    private let other = PolicySigner()
    private var trust: PolicyTrust { PolicyTrust([.init(signer.key)]) }

    /// What a device knows that has taken version 5.
    private var past: PolicyTrust.Past {
        var past = PolicyTrust.Past()
        (past.name, past.version, past.digests) = ("shops", 5, release(5).digests)
        return past
    }

    @Test("a file that is cut anywhere, or has a changed byte anywhere") func broken() throws {
        let bytes = try signed(release(6), signer)
        #expect(refusal(trust, bytes, after: past) == nil)
        for end in stride(from: 0, to: bytes.count - 1, by: 61) {
            #expect(refusal(trust, Array(bytes[..<end]), after: past) != nil, "cut at \(end)")
        }
        for place in stride(from: 0, to: bytes.count - 1, by: 37) {
            for bit: UInt8 in [1, 0x20] {
                var changed = bytes
                changed[place] ^= bit
                let kind = refusal(trust, changed, after: past)
                // White space between the parts means nothing.
                #expect(kind != nil || changed == bytes, "byte \(place)")
            }
        }
        #expect(refusal(trust, bytes + bytes, after: past) == .notWhole)
        #expect(refusal(trust, bytes + Array("x".utf8), after: past) == .notWhole)
        #expect(refusal(trust, [], after: past) == .notWhole)
        #expect(refusal(trust, Array("<html></html>".utf8), after: past) == .notWhole)
        #expect(refusal(trust, Array(repeating: 0x20, count: SignedRelease.maximumBytes + 1), after: past) == .tooLarge)
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(refusal(trust, deep, after: past) == .notWhole)
    }

    @Test("signatures: none, of others, of an unnamed algorithm, claimed, doubled, moved") func signatures() throws {
        let file = try signed(release(6), signer)
        let json = try JSON(parsing: file)
        func with(_ change: (inout JSON) -> Void) -> [UInt8] {
            var copy = json
            change(&copy)
            return copy.bytes()
        }
        func signature(_ index: Int = 0) -> JSON { json["signatures"]?[index] ?? .null }
        var copy = signature()
        #expect(refusal(trust, with { $0["signatures"] = [] }, after: past) == .unsigned)
        #expect(refusal(trust, with { $0["signatures"] = .null }, after: past) == .notWhole)
        #expect(refusal(trust, with { $0 = $0.removing("signatures") }, after: past) == .notWhole)
        #expect(refusal(trust, try signed(release(6), other), after: past) == .untrusted)
        copy["keyid"] = JSON(other.key.id)
        #expect(refusal(trust, with { $0["signatures"] = [copy] }, after: past) == .untrusted)
        copy["keyid"] = ""
        #expect(refusal(trust, with { $0["signatures"] = [copy] }, after: past) == .untrusted)
        // Another's signature under a trusted name.
        let foreign = try JSON(parsing: try signed(release(6), other))["signatures"]?[0]?["sig"] ?? .null
        copy = ["keyid": JSON(signer.key.id), "sig": foreign]
        #expect(refusal(trust, with { $0["signatures"] = [copy] }, after: past) == .forged)
        #expect(refusal(trust, with { $0["signatures"] = [copy, signature()] }, after: past) == .forged)
        for sig in ["", "AAAA", String(repeating: "A", count: 88), "!!!"] {
            copy = ["keyid": JSON(signer.key.id), "sig": JSON(sig)]
            #expect(refusal(trust, with { $0["signatures"] = [copy] }, after: past) != nil, "\(sig)")
        }
        // A field that names an algorithm has no meaning, as on a file that is signed well.
        copy = signature()
        copy["alg"] = "none"
        #expect(refusal(trust, with { $0["signatures"] = [copy] }, after: past) == nil)
        #expect(refusal(trust, with { $0["signatures"] = JSON(Array(repeating: signature(), count: 17)) }) == .notWhole)
        #expect(refusal(trust, with { $0["payloadType"] = "application/json" }, after: past) == .notWhole)
        #expect(refusal(trust, with { $0["more"] = 1 }, after: past) == .notWhole)
        // A signature of another content.
        let seven = try JSON(parsing: try signed(release(7), signer))
        #expect(refusal(trust, with { $0["payload"] = seven["payload"] ?? .null }, after: past) == .forged)
        #expect(refusal(trust, with { $0["signatures"] = seven["signatures"] ?? .null }, after: past) == .forged)
        // Two payloads under one name.
        let text = String(decoding: file, as: UTF8.self)
        let doubled = text.replacingOccurrences(of: #""payload":"#, with: #""payload":"AAAA","payload":"#)
        #expect(refusal(trust, Array(doubled.utf8), after: past) == .notWhole)
    }

    @Test("two signatures are two keys, and both have to be trusted now") func threshold() throws {
        let both = PolicyTrust([.init(signer.key), .init(other.key)], required: 2)
        #expect(refusal(both, try signed(release(6), signer)) == .untrusted)
        #expect(refusal(both, try signed(release(6), signer, signer)) == .untrusted)
        #expect(refusal(both, try signed(release(6), signer, PolicySigner())) == .untrusted)
        #expect(refusal(both, try signed(release(6), signer, other)) == nil)
        let twice = PolicyTrust([.init(signer.key), .init(signer.key)], required: 2)
        #expect(refusal(twice, try signed(release(6), signer)) == .untrusted, "one key in two files is one key")
        #expect(refusal(PolicyTrust([]), try signed(release(6), signer)) == .untrusted)
        #expect(refusal(PolicyTrust([], required: 0), try signed(release(6), signer)) == .untrusted)
    }

    @Test("keys count in their time: before, after, in between, and with the clock set back") func keyTimes() throws {
        let file = try signed(release(6), signer)
        func trust(from: Timestamp?, until: Timestamp?) -> PolicyTrust {
            PolicyTrust([.init(signer.key, from: from, until: until)])
        }
        #expect(refusal(trust(from: after(1), until: nil), file) == .untrusted)
        #expect(refusal(trust(from: noon, until: nil), file) == nil)
        #expect(refusal(trust(from: nil, until: noon), file) == .untrusted)
        #expect(refusal(trust(from: nil, until: after(1)), file) == nil)
        var past = past
        past.latest = after(100)
        #expect(refusal(trust(from: nil, until: after(50)), file, at: after(-1_000), after: past) == .untrusted)
        // Of two keys that follow each other the one that is over counts no longer.
        let rotation = PolicyTrust([.init(signer.key, until: after(10)), .init(other.key, from: after(5))])
        for (seconds, mine, others) in [(0, true, false), (7, true, true), (12, false, true)] {
            #expect((refusal(rotation, file, at: after(seconds)) == nil) == mine)
            #expect((refusal(rotation, try signed(release(6), other), at: after(seconds)) == nil) == others)
        }
    }

    @Test("a revoked key counts no longer, and none takes another out alone") func revocation() throws {
        let keys = PolicyTrust([.init(signer.key), .init(other.key)])
        var revoking = release(6)
        revoking.revokes = [other.key.id]
        #expect(refusal(keys, try signed(revoking, signer)) == nil)
        // The thief of a key revokes the good one with it, or hides behind it.
        #expect(refusal(keys, try signed(revoking, other)) == .untrusted)
        var past = past
        past.revoked = [other.key.id]
        #expect(refusal(keys, try signed(release(7), other), after: past) == .untrusted)
        #expect(refusal(keys, try signed(release(7), other, signer), after: past) == nil)
    }

    @Test("older, the same version with another content, another name, and what was withdrawn") func versions() throws {
        for version in [1, 4] { #expect(refusal(trust, try signed(release(version), signer), after: past) == .older) }
        #expect(refusal(trust, try signed(release(5), signer), after: past) == nil, "the same one again")
        let swapped = release(5, script: "return decide.server{}")
        #expect(refusal(trust, try signed(swapped, signer), after: past) == .otherContent)
        #expect(refusal(trust, try signed(release(6, name: "cars"), signer), after: past) == .otherName)
        let named = PolicyTrust([.init(signer.key)], name: "cars")
        #expect(refusal(named, try signed(release(6), signer)) == .otherName)
        var past = past
        past.withdrawn[6] = "2 of 20 calls failed"
        #expect(refusal(trust, try signed(release(6), signer), after: past) == .withdrawn)
        #expect(refusal(trust, try signed(release(7), signer), after: past) == nil)
    }

    @Test("for others: labels, shares; not yet, no longer, and with the clock set back") func audience() throws {
        var labelled = release(6)
        labelled.audience.labels = ["ring": "canary"]
        let file = try signed(labelled, signer)
        for labels in [[:], ["ring": "beta"], ["Ring": "canary"]] {
            #expect(refusal(trust, file, for: .init(id: "d1", labels: labels), after: past) == .forOthers)
        }
        #expect(refusal(trust, file, for: .init(id: "d1", labels: ["ring": "canary"]), after: past) == nil)
        var none = release(6)
        none.audience.share = 0
        #expect(refusal(trust, try signed(none, signer), after: past) == .forOthers)
        var dated = release(6)
        (dated.validFrom, dated.validUntil) = (noon, after(10))
        let times = try signed(dated, signer)
        #expect(refusal(trust, times, at: after(-1), after: past) == .early)
        #expect(refusal(trust, times, at: noon, after: past) == nil)
        #expect(refusal(trust, times, at: after(10), after: past) == .expired)
        var past = past
        past.latest = after(20)
        #expect(refusal(trust, times, at: noon, after: past) == .expired, "a later release has shown that it is later")
    }

    @Test("contents that are no release, signed all the same") func contents() throws {
        func check(_ change: (inout JSON) -> Void, _ name: String) throws {
            var json = try JSON(parsing: release(6).bytes)
            change(&json)
            #expect(throws: PolicyRefusal.self, "\(name)") { try PolicyRelease(bytes: json.bytes()) }
        }
        try check({ $0["form"] = 2 }, "a later form")
        try check({ $0["form"] = 0 }, "no form")
        try check({ $0["form"] = "1" }, "a form as a text")
        for version: JSON in [0, -1, 1.5, "6", .null, 99_999_999_999] {
            try check({ $0["version"] = version }, "version \(version)")
        }
        for share: JSON in [-1, 100_001, "1%", .null] { try check({ $0["share"] = share }, "share \(share)") }
        try check({ $0["name"] = "" }, "no name")
        try check({ $0["name"] = JSON(String(repeating: "x", count: 200)) }, "a long name")
        try check({ $0["until"] = "tomorrow" }, "no time")
        try check({ $0["more"] = 1 }, "an unknown member")
        try check({ $0 = $0.removing("revokes") }, "a missing member")
        try check({ $0["policy"] = "plugins: {}" }, "a policy that its digest does not name")
        try check({ $0["plugins"]?["stock"]?["main.lua"] = "return {}" }, "a file that its digest does not name")
        try check({ $0["digests"]?["stock"] = "00" }, "another digest")
        try check({ $0["digests"]?["more"] = "00" }, "one digest more")
        try check({ $0["digests"] = $0["digests"]?.removing("policy") }, "one digest less")
        try check({ $0["plugins"]?["stock"]?["main.lua"] = 7 }, "a file that is no text")
        try check({ $0["plugins"] = [] }, "no plugins")
        try check({ $0["labels"] = ["ring": 1] }, "a label that is no text")
    }

    @Test(
        "paths that leave the plugin's folder",
        arguments: [
            "../main.lua", "/etc/passwd", "lib/../../x.lua", "lib//x.lua", "./x.lua", ".hidden", "a\\b.lua",
            "x\u{0}.lua",
            "C:x.lua", "lib/\u{2024}\u{2024}/x.lua", "", "lib/", String(repeating: "a/", count: 9) + "x.lua",
        ])
    func paths(_ path: String) {
        let good = release(6)
        var files = good.plugins["stock"] ?? [:]
        files[path] = "return {}"
        let bad = PolicyRelease(name: "shops", version: 6, policy: good.policy, plugins: ["stock": files])
        #expect(throws: SluiceError.self) { try bad.read() }
    }

    @Test("bombs: huge manifests, aliases in YAML, many files, large sources") func bombs() {
        func bad(_ plugins: [String: [String: String]], _ policy: String = release(6).policy) -> PolicyRelease {
            PolicyRelease(name: "shops", version: 6, policy: policy, plugins: plugins)
        }
        let files = release(6).plugins["stock"] ?? [:]
        var many = files
        for number in 0..<300 { many["f\(number).txt"] = "x" }
        #expect(throws: SluiceError.self) { try bad(["stock": many]).read() }
        var large = files
        large["main.lua"] = String(repeating: "-", count: PluginBundle.maximumSourceBytes + 1)
        #expect(throws: SluiceError.self) { try bad(["stock": large]).read() }
        var manifest = files
        manifest["plugin.json"] = String(repeating: "[", count: 200_000)
        #expect(throws: SluiceError.self) { try bad(["stock": manifest]).read() }
        var twins = files
        twins["Main.lua"] = "return {}"
        #expect(throws: SluiceError.self) { try bad(["stock": twins]).read() }
        let aliases =
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
            + "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nplugins: { stock: { path: p, config: { x: [*d,*d,*d,*d,*d] } } }\n"
        #expect(throws: SluiceError.self) { try bad(["stock": files], aliases).read() }
    }

    @Test("keys of another kind, and files that are no keys") func keys() async throws {
        try await withFolder { folder in
            _ = try PolicyFolder(folder)
            let path = "\(folder)/x.key"
            for text in [
                "", "\n", "sluice-policy-key", "sluice-policy-key AAAA", signer.text,
                signer.key.text.replacingOccurrences(of: "sluice-policy-key", with: "ssh-ed25519"),
                "\(signer.key.text) until=tomorrow", "\(signer.key.text) for=ever",
                "\(signer.key.text)\n\(other.key.text)",
            ] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                #expect(throws: SluiceError.self, "\(text.count)") { try PolicyTrust.Entry(file: path) }
            }
            try Data("\(signer.key.text) from=2026-01-01T00:00:00Z until=2027-01-01T00:00:00Z\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let entry = try PolicyTrust.Entry(file: path)
            #expect(entry.key == signer.key && entry.from != nil && entry.until != nil)
            try Data("\(signer.key.text)\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: SluiceError.self, "the key of the devices signs nothing") { try PolicySigner(file: path) }
        }
    }
}
