import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("The values of a plugin")
struct KeyValuesTests {
    private let now = Timestamp("2026-01-01T00:00:00Z")!

    private func whole(_ values: [String: JSON]) -> Int { KeyValues(values).size }

    @Test("their size is that of what would be saved, whatever was changed how often")
    func size() {
        var values = KeyValues(["a": ["v": 1], "b": ["v": "text"]])
        #expect(values.size == 1 + #"{"v":1}"#.utf8.count + 1 + #"{"v":"text"}"#.utf8.count)
        _ = values.apply(["a": [.set(.init("longer"))], "b": [.set(nil)], "c": [.add(5), .add(6)]], at: now)
        #expect(values.size == whole(["a": ["v": "longer"], "c": ["v": 11]]))
        _ = values.apply(["c": [.set(nil)], "d": [.set(nil)]], at: now)
        #expect(values.size == whole(["a": ["v": "longer"]]))
    }

    @Test("those that are over make room, are not found, and are removed from where they were saved")
    func room() {
        let old: JSON = ["v": 1, "until": "2025-01-01T00:00:00Z"]
        var values = KeyValues(["old": old, "other": old, "kept": ["v": 2]])
        #expect(values.size == whole(["old": old, "other": old, "kept": ["v": 2]]))
        #expect(values.value("old", with: [:], at: now) == nil)
        values.makeRoom(at: now)
        #expect(values.size == whole(["kept": ["v": 2]]))
        let saved = values.apply(["other": [.set(.init(3))]], at: now)
        #expect(saved == ["old": nil as JSON?, "other": ["v": 3]])
        #expect(values.apply(["kept": [.set(nil)]], at: now) == ["kept": nil as JSON?])
        #expect(values.size == whole(["other": ["v": 3]]))
    }

    @Test("a call sees its own changes, and what they would take")
    func changes() {
        let values = KeyValues(["n": ["v": 1]])
        let changes: [String: [KeyValues.Change]] = ["n": [.add(9)], "t": [.set(.init("x"))]]
        #expect(values.value("n", with: changes, at: now)?.value == 10)
        #expect(values.size(of: "n", with: changes, at: now) == whole(["n": ["v": 10]]))
        #expect(values.size(of: "t", with: changes, at: now) == whole(["t": ["v": "x"]]))
        #expect(values.size(of: "none", with: changes, at: now) == 0)
    }
}
