import Foundation
import SluiceCore
import SluiceLua
import SluiceTestSupport
import Testing

@Suite("Bundles")
struct PluginBundleTests {
    private let folder: TemporaryFolder
    private static let files = ["plugin.json": PluginManifestTests.small, "main.lua": "return {}"]

    init() throws {
        folder = try TemporaryFolder()
        for (name, text) in Self.files { try folder.write(text, to: name) }
    }

    private func bundle() throws -> PluginBundle { try PluginBundle(folder: folder.path) }

    private func refusal() -> String {
        let message = #expect(throws: SluiceError.self) { try bundle() }?.message ?? ""
        #expect(message.hasPrefix(folder.path), "\(message)")
        return message
    }

    private func refusal(_ files: [String: String]) -> String {
        let all = Self.files.merging(files) { $1 }.mapValues { Array($0.utf8) }
        return #expect(throws: SluiceError.self) { try PluginBundle(files: all, location: "zip") }?.message ?? ""
    }

    @Test("sources and fixtures are found by their places")
    func reads() throws {
        try folder.write("return 1", to: "lib/rules.lua")
        try folder.write("return 2", to: "lib/text/trim.lua")
        try folder.write("{}", to: "tests/a.json")
        try folder.write("", to: "tests/b.lua")
        try folder.write("# Stock", to: "README.md")
        let bundle = try bundle()
        #expect(bundle.sources.map(\.name) == ["main", "lib.rules", "lib.text.trim"])
        #expect(bundle.sources[1].text == Array("return 1".utf8) && bundle.location == folder.path)
        #expect(bundle.fixtures == ["tests/a.json"])
        #expect(bundle.files.count == 7 && bundle.manifest.name == "com.example.stock")
    }

    @Test("the digest is of all that the files say, and of nothing else")
    func digest() throws {
        let first = try bundle().digest
        #expect(try bundle().digest == first)
        try folder.write("return {} ", to: "main.lua")
        #expect(try bundle().digest != first)
        try folder.write("return {}", to: "main.lua")
        #expect(try bundle().digest == first)
        try folder.write("", to: "lib/a.lua")
        #expect(try bundle().digest != first)
    }

    @Test("names with a dot in front are passed over, links and large folders among them")
    func hidden() throws {
        try folder.write("x", to: ".git/objects/aa")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/.link", withDestinationPath: "/etc/passwd")
        for index in 0..<300 { try folder.write("", to: ".cache\(index)") }
        #expect(try bundle().files.count == 2)
    }

    @Test("a folder that is not there, or no bundle, is refused")
    func missing() throws {
        let message = #expect(throws: SluiceError.self) { try PluginBundle(folder: folder.path + "/nope") }?.message
        #expect(message?.contains("cannot be read") == true)
        try FileManager.default.removeItem(atPath: folder.path + "/main.lua")
        #expect(refusal().contains("there is no main.lua"))
        try FileManager.default.removeItem(atPath: folder.path + "/plugin.json")
        #expect(refusal().contains("there is no plugin.json"))
    }

    @Test("a manifest's refusal names the file and the place")
    func manifest() throws {
        try folder.write(try PluginManifestTests.text(#"{"api": "9"}"#), to: "plugin.json")
        #expect(refusal().hasPrefix("\(folder.path)/plugin.json /api: expected \"1.0\""))
    }

    @Test(
        "symbolic links are refused: to a file, a folder, outside, inside, and nowhere",
        arguments: [
            "/etc/passwd", "/etc", "main.lua", "..", "nowhere",
        ])
    func links(target: String) throws {
        try folder.write("", to: "lib/a.lua")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/lib/x.lua", withDestinationPath: target)
        #expect(refusal().contains("lib/x.lua is a symbolic link"))
    }

    @Test("what is neither file nor folder is refused, and not waited for")
    func pipe() {
        #expect(mkfifo(folder.path + "/pipe.lua", 0o600) == 0)
        #expect(refusal().contains("pipe.lua is neither a file nor a folder"))
    }

    @Test("ten thousand files are refused, and not all read")
    func tooManyFiles() throws {
        try folder.write("", to: "lib/a.lua")
        for index in 0..<10_000 { close(open(folder.path + "/lib/f\(index).lua", O_CREAT | O_WRONLY, 0o600)) }
        let time = processorTime { #expect(refusal().contains("expected at most")) }
        #expect(time < .seconds(2))
    }

    @Test("257 files are one too many")
    func oneTooMany() throws {
        for index in 0..<254 { try folder.write("", to: "tests/f\(index).json") }
        #expect(try bundle().files.count == 256)
        try folder.write("", to: "tests/one-more.json")
        #expect(refusal().contains("expected at most 256 files"))
    }

    @Test("a source of more than 256 KiB is refused, and a file of a gigabyte is not read to its end")
    func tooLarge() throws {
        try folder.write(Data(count: 256 << 10), to: "lib/a.lua")
        _ = try bundle()
        try folder.write(Data(count: 256 << 10 | 1), to: "lib/a.lua")
        #expect(refusal().contains("lib/a.lua: a source has at most 262144 bytes"))
        try folder.write("", to: "lib/a.lua")
        let path = try folder.write("", to: "tests/huge.json")
        #expect(truncate(path, 1 << 30) == 0)
        #expect(refusal().contains("tests/huge.json: expected at most 4194304 bytes in all files"))
    }

    @Test("all files together have at most 4 MiB")
    func tooMuch() throws {
        for index in 0..<4 { try folder.write(Data(count: 1 << 20), to: "tests/\(index).json") }
        #expect(refusal().contains("in all files"))
    }

    @Test("names that differ by case alone are refused, in files and in folders")
    func caseClash() throws {
        #expect(refusal(["lib/A.lua": "", "lib/a.lua": ""]).contains("lib/A.lua and lib/a.lua differ by case alone"))
        try folder.write("", to: "README.md")
        try folder.write("", to: "readme.md")
        #expect(refusal().contains("README.md and readme.md differ by case alone"))
        #expect(refusal(["Lib/a.lua": "", "lib/A.lua": ""]).contains("differ by case alone"))
    }

    @Test("what is not UTF-8 is refused: a source, a fixture, a name")
    func notUTF8() throws {
        let path = try folder.write(Data([0x2D, 0x2D, 0xC3, 0x28]), to: "lib/a.lua")
        #expect(refusal().contains("lib/a.lua: the file is not UTF-8"))
        try FileManager.default.removeItem(atPath: path)
        let name: [CChar] = Array((folder.path + "/lib/").utf8CString.dropLast()) + [-1, 0]
        close(open(name, O_CREAT | O_WRONLY, 0o600))
        #expect(refusal().contains("a name in the folder is not UTF-8"))
    }

    @Test(
        "paths that a packed bundle could have, and no folder, are refused",
        arguments: [
            "../x.lua", "lib/../../x.lua", "/etc/x.lua", "lib//x.lua", "./x.lua", "lib/.x.lua", "", "lib/", "a\\b.lua",
            "lib/a\u{0}.lua", "lib/é.lua", "lib/a b.lua", "a/b/c/d/e/f/g/h/i.lua", "lib/\u{202E}aul.lua",
        ])
    func paths(path: String) {
        #expect(refusal([path: ""]).contains("is no name for a file"))
    }

    @Test("a module's name has no dot of its own: lib/a.b.lua and lib/a/b.lua would be one")
    func dots() {
        #expect(refusal(["lib/a.b.lua": ""]).contains("a source's name has no dot"))
    }
}
