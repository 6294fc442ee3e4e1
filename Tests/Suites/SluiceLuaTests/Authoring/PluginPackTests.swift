import Foundation
import SluiceCore
import Testing

@testable import SluiceLua
@testable import SluicePluginTools

@Suite("packing a bundle")
struct PluginPackTests {
    @Test("the same bundle is the same archive, and tar unpacks it to the same files")
    func unpacks() throws {
        let deep = "tests/" + String(repeating: "d", count: 60) + "/" + String(repeating: "f", count: 60) + ".json"
        let bundle = try PluginBundle.handler("return decide.next()", files: ["lib/a.lua": "return 1", deep: "{}"])
        let pack = try PluginPack(bundle)
        #expect(try PluginPack(bundle).hash == pack.hash)
        #expect(pack.name == "sample-1.0.0.tar" && pack.hash.count == 64)
        let folder = try TemporaryFolder()
        let path = try pack.write(to: folder.path)
        let tar = Process()
        tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tar.arguments = ["tar", "-xf", path, "-C", folder.path]
        try tar.run()
        tar.waitUntilExit()
        #expect(tar.terminationStatus == 0)
        #expect(try PluginBundle(folder: "\(folder.path)/sample").digest == bundle.digest)
    }

    @Test("another file is another archive; a path that no archive holds is refused")
    func refuses() throws {
        let one = try PluginPack(try .handler("return decide.next()"))
        let other = try PluginPack(try .handler("return decide.next() "))
        #expect(one.hash != other.hash)
        let long = (0..<4).map { _ in String(repeating: "x", count: 90) }.joined(separator: "/") + ".json"
        let bundle = try PluginBundle.handler("return decide.next()", files: [long: "{}"])
        #expect(throws: SluiceError.self) { try PluginPack(bundle) }
    }
}
