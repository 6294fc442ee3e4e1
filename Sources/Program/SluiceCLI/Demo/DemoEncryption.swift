internal import Foundation
internal import Sluice

/// The demo's stores where they are encrypted: what their files show, and what they hold.
struct DemoEncryption {
    /// What the devices' files were looked through for, and in how many places it was found.
    struct Facts {
        var files = 0
        var bytes = 0
        var words = 0
        var found = 0

        var json: JSON {
            ["files": JSON(files), "bytes": JSON(bytes), "words": JSON(words), "found": JSON(found)]
        }
    }

    let folder: DemoFolder

    /// Looks through all files of the devices for texts that stand in their records.
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

    /// A copy of the device's store that is not encrypted, for a program that knows no key; it is among the folder's
    /// passing files, so that it goes away however the demo ends.
    func plainCopy(of device: DemoDevice) async throws -> String {
        guard let key = device.key else { return device.path }
        let copy = try folder.passingFile("\(device.name)-plain.db")
        try FileManager.default.copyItem(atPath: device.path, toPath: copy)
        try await SQLiteStore.convert(path: copy, from: .key(key), to: nil)
        return copy
    }

    /// Where the folder is kept, leaves the keys beside the stores.
    func keepKeys(of devices: [DemoDevice]) throws {
        guard folder.isKept else { return }
        for device in devices { try device.key?.write(toFile: folder.file("\(device.name).key")) }
    }
}
