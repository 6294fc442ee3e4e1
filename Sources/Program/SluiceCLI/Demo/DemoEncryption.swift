internal import Foundation
internal import Sluice

/// The demo's encrypted stores: searches their files, and decrypts a copy for comparison.
struct DemoEncryption {
    /// The texts searched in the devices' files, and the number of places in which they were found.
    struct Facts: Encodable {
        var files = 0
        var bytes = 0
        var words = 0
        var found = 0
    }

    let folder: DemoFolder

    /// Searches all files of the devices for texts from their records.
    func search(_ devices: [DemoDevice], for words: [String]) throws -> Facts {
        var facts = Facts(words: words.count)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for name in names.sorted() where devices.contains(where: { name.hasPrefix("\($0.name).db") }) {
            let content = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
            facts.files += 1
            facts.bytes += content.count
            for word in ["SQLite format"] + words where content.range(of: Data(word.utf8)) != nil { facts.found += 1 }
        }
        return facts
    }

    /// Returns an unencrypted copy of the device's store, for a program without the key. It is one of the folder's
    /// temporary files, so that it is removed however the demo ends.
    func plainCopy(of device: DemoDevice) async throws -> String {
        guard let key = device.key else { return device.path }
        let copy = try folder.passingFile("\(device.name)-plain.db")
        try FileManager.default.copyItem(atPath: device.path, toPath: copy)
        try await SQLiteStore.convert(path: copy, from: .key(key), to: nil)
        return copy
    }

    /// If the folder is kept, writes the keys beside the stores.
    func keepKeys(of devices: [DemoDevice]) throws {
        guard folder.isKept else { return }
        for device in devices { try device.key?.write(toFile: folder.file("\(device.name).key")) }
    }
}
