import Foundation
import SluiceCore
import SluiceLua
import SluicePolicy

/// A release with one plugin whose hook answers as given.
func release(
    _ version: Int, name: String = "shops", script: String = "return decide.client{}", manifest: String? = nil,
    policy: String = "plugins: { stock: { path: plugins/stock } }\n"
) -> PolicyRelease {
    let manifest =
        manifest ?? """
            { "name": "stock", "version": "1.0.\(version)", "api": "1.0", "description": "Decides.",
              "hooks": { "on_conflict": { "match": { "tables": ["notes"] } } } }
            """
    return PolicyRelease(
        name: name, version: version, policy: policy,
        plugins: [
            "stock": [
                "plugin.json": manifest,
                "main.lua": "local function on_conflict(c) \(script) end\nreturn { on_conflict = on_conflict }\n",
            ]
        ])
}

/// Returns a release's file, signed by the keys.
func signed(_ release: PolicyRelease, _ signers: PolicySigner...) throws -> [UInt8] {
    var file = SignedRelease(release)
    for signer in signers { try file.sign(signer) }
    return file.bytes
}

/// A moment of the tests' clock.
let noon = Timestamp("2026-12-01T12:00:00Z") ?? SystemClock.now()

func after(_ seconds: Int) -> Timestamp { Timestamp(ticks: noon.ticks + Int64(seconds) * 10_000_000) }

/// Takes the refusal of a file out of a check.
func refusal(
    _ trust: PolicyTrust, _ bytes: [UInt8], for device: PolicyDeviceName = PolicyDeviceName(id: "d1"),
    at now: Timestamp = noon, after past: PolicyTrust.Past = PolicyTrust.Past()
) -> PolicyRefusal.Kind? {
    do throws(PolicyRefusal) {
        _ = try trust.release(from: bytes, for: device, at: now, after: past)
        return nil
    } catch {
        return error.kind
    }
}

/// Runs `body` with a folder that is removed afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("policy-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

extension JSON {
    /// Returns the object without a member.
    func removing(_ name: PropertyName) -> JSON {
        JSON(members: (members ?? []).filter { $0.name != name }.map { ($0.name, $0.value) })
    }
}
