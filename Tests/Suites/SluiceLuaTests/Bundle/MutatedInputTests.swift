import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceLua

/// Whatever is made of a good input is read or refused: nothing traps, and nothing takes long.
@Suite("Mutated manifests, policies and patterns")
struct MutatedInputTests {
    private static let manifest = #"""
        {"name": "com.example.stock", "version": "1.2.0", "api": "1.0", "min_sdk": "0.1.0", "homepage": "https://a.b/c",
         "hooks": {"on_conflict": {"match": {"tables": ["st*"], "status": [412, "5xx"], "sample": 0.5,
           "deployment": {"ring": "canary"}}, "band": "late", "before": ["a"], "priority": 3, "on_error": "next",
           "limits": {"fuel": 1000, "wall": "1s"}}, "init": {}},
         "config_schema": {"type": "object", "required": ["n"], "properties": {
           "n": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
           "s": {"type": ["string", "null"], "pattern": "^[a-z]{1,8}(-\\d+)*$", "minLength": 1},
           "l": {"type": "array", "items": {"enum": ["a", 1, null]}, "maxItems": 3},
           "u": {"type": "string", "format": "uri"}}},
         "permissions": {"http": ["api.example.com", "{u}"], "kv": {"bytes": 4096}, "tables": {"t*": "rw"}}}
        """#

    private static let policy = """
        deployment: { id: a, labels: { ring: canary } }
        mode: enforce
        plugins:
          trace:
            path: plugins/trace
            mode: shadow
            config: { n: 5, s: null, l: [a, 1], u: "https://x" }
            disabled: [audit, "tmp*"]
            memory: 1MiB
            order: { band: late, before: [b], after: [], priority: 10 }
            hooks: { filter: { on_error: fail_open, limits: { fuel: 1000, wall: 1s } } }

        """

    /// Bytes taken out, put in, doubled or replaced by others of the text or by hostile ones.
    private static func mutated(_ text: String, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(text.utf8)
        let hostile: [UInt8] = Array("{}[]\",:\\-&*#'|>%@0e\n\t ".utf8) + [0, 0xFF, 0xC3, 0xE2, 0x80]
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...12, using: &random))
            switch Int.random(in: 0...4, using: &random) {
            case 0: bytes.removeSubrange(place..<end)
            case 1: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0..<bytes.count, using: &random))
            case 2: bytes[place] = hostile.randomElement(using: &random) ?? 0
            case 3: bytes.insert(hostile.randomElement(using: &random) ?? 0, at: place)
            default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return bytes
    }

    private static func isOnOneLine(_ message: String) -> Bool {
        message.utf8.count < 4_000 && !message.utf8.contains { $0 < 0x20 }
    }

    @Test("a manifest is read or refused, and what is read fills a configuration or refuses it", arguments: 1...20)
    func manifests(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            do {
                let manifest = try PluginManifest(bytes: Self.mutated(Self.manifest, &random))
                let config: JSON = ["n": 2, "s": "abc-1", "l": ["a"], "u": "http://h"]
                _ = try manifest.configSchema.filled(config)
            } catch {
                #expect(Self.isOnOneLine(error.message), "\(error)")
            }
        }
    }

    @Test("a policy is read or refused", arguments: 1...20)
    func policies(seed: UInt64) throws {
        let place = try PolicyFolder()
        try place.add(
            "trace",
            #"""
            {"hooks": {"filter": {}}, "config_schema": {"type": "object", "properties": {"n": {"type": "integer"},
             "s": {"type": ["string", "null"]}, "l": {"type": "array"}, "u": {"type": "string", "format": "uri"}}}}
            """#)
        _ = try place.policy(Self.policy)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = String(decoding: Self.mutated(Self.policy, &random), as: UTF8.self)
            do {
                let policy = try place.policy(text)
                _ = try? policy.check()
            } catch {
                #expect((error as? SluiceError)?.code == .invalidArgument, "\(error)")
            }
        }
    }

    @Test("a pattern is taken or refused, and one that is taken comes to its end", arguments: 1...20)
    func patterns(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = Array("ab\\^$.|?*+()[]{}-,0123dws:=!uéẞ\u{0}".unicodeScalars)
        for _ in 0..<400 {
            let length = Int.random(in: 0...24, using: &random)
            var scalars = String.UnicodeScalarView()
            for _ in 0..<length { scalars.append(letters.randomElement(using: &random) ?? "a") }
            do throws(TextPattern.Refusal) {
                let pattern = try TextPattern(String(scalars))
                _ = pattern.matches(String(repeating: "ab", count: 50))
            } catch {
                #expect((1...length + 1).contains(error.character))
            }
        }
    }
}
