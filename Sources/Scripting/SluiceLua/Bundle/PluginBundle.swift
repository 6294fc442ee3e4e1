public import SluiceCore

/// The content of a plugin's folder: the manifest, the sources, and the fixtures of its tests.
///
/// A bundle has at most 256 files of 4 MiB together. Each is a text in UTF-8, and a source has at most 256 KiB.
/// Symbolic links, names outside plain ASCII, and two names that differ by case alone are refused. Names with a dot in
/// front are ignored: they belong to the editor, not to the plugin.
public struct PluginBundle: Sendable {
    /// The maximum number of files in a bundle.
    public static let maximumFiles = 256
    /// The largest source, in bytes.
    public static let maximumSourceBytes = 256 << 10
    /// The maximum size of all files together, in bytes.
    public static let maximumBytes = 4 << 20

    /// A source of Lua that scripts can be loaded from.
    public struct Source: Sendable, Hashable {
        /// The name for `require`: `main`, `lib.rules`.
        public let name: String
        /// Its path in the bundle, used in messages: `main.lua`, `lib/rules.lua`.
        public let path: String
        /// The text, in UTF-8.
        public let text: [UInt8]
    }

    /// The manifest, read from `plugin.json`.
    public let manifest: PluginManifest
    /// The folder that it was read from, or the name given for it.
    public let location: String
    /// All files, by their paths in the bundle: `lib/rules.lua`.
    public let files: [String: [UInt8]]
    /// The manifest's main source, then the sources below `lib` in the order of their names.
    public let sources: [Source]
    /// A hash of all files, which distinguishes two bundles of one version. It is no protection against tampering.
    public let digest: String

    /// Reads a folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and, in the manifest, the place.
    public init(folder: String) throws(SluiceError) {
        try self.init(files: BundleReader(folder).files(), location: folder)
    }

    /// Creates a bundle of those files, by the rules of a folder.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file and, in the manifest, the place.
    public init(files: [String: [UInt8]], location: String) throws(SluiceError) {
        func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidArgument, "\(location): \(reason)") }
        var rules = BundleRules(location: location)
        let paths = files.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for path in paths {
            try rules.admit(path)
            try rules.check(path, files[path] ?? [])
        }
        guard let bytes = files[PluginManifest.fileName] else {
            throw refusal("there is no \(PluginManifest.fileName)")
        }
        manifest = try PluginManifest(bytes: bytes, document: "\(location)/\(PluginManifest.fileName)")
        guard let main = files[manifest.main], let name = BundleName.module(of: manifest.main) else {
            throw refusal("there is no \(manifest.main), which \(PluginManifest.fileName) names as main")
        }
        var sources = [Source(name: name, path: manifest.main, text: main)]
        for path in paths where path.hasPrefix("lib/") && path.hasSuffix(".lua") {
            guard let name = BundleName.module(of: path) else {
                throw refusal("\(path): a source's name has no dot but the one of .lua")
            }
            sources.append(Source(name: name, path: path, text: files[path] ?? []))
        }
        self.sources = sources
        self.files = files
        self.location = location
        var hash = FNV1a.hash([])
        for path in paths {
            let bytes = files[path] ?? []
            hash = FNV1a.hash("\(path)\u{0}\(bytes.count)\u{0}".utf8, after: hash)
            hash = FNV1a.hash(bytes, after: hash)
        }
        digest = String(hash, radix: 16)
    }

    /// The paths of the fixtures: `tests/NAME.json`.
    public var fixtures: [String] {
        files.keys.filter { $0.hasPrefix("tests/") && $0.hasSuffix(".json") }.sorted()
    }
}

/// The rules for every file of a bundle, checked one file after the other.
struct BundleRules {
    let location: String
    private var folded: [String: String] = [:]
    private var bytes = 0

    init(location: String) { self.location = location }

    func refusal(_ reason: String) -> SluiceError { SluiceError(.invalidArgument, "\(location): \(reason)") }

    /// Counts a path, or refuses it.
    mutating func admit(_ path: String) throws(SluiceError) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 8, parts.allSatisfy(BundleName.isAllowed) else {
            throw refusal(
                "\(JSONPlace.words(for: JSON(path))) is no name for a file: letters, digits, \"_\", \"-\" and \".\", in at most 8 folders"
            )
        }
        guard folded.count < PluginBundle.maximumFiles else {
            throw refusal("expected at most \(PluginBundle.maximumFiles) files")
        }
        if let other = folded.updateValue(path, forKey: path.lowercased()) {
            throw refusal("\(other) and \(path) differ by case alone")
        }
    }

    /// Returns the number of bytes that a file at that path may still have.
    func room(for path: String) -> Int {
        let rest = PluginBundle.maximumBytes - bytes
        return path.hasSuffix(".lua") ? min(rest, PluginBundle.maximumSourceBytes) : rest
    }

    /// Counts a file's bytes, or refuses them.
    mutating func check(_ path: String, _ file: [UInt8]) throws(SluiceError) {
        guard file.count <= room(for: path) else {
            throw refusal(
                path.hasSuffix(".lua") && file.count > PluginBundle.maximumSourceBytes
                    ? "\(path): a source has at most \(PluginBundle.maximumSourceBytes) bytes"
                    : "\(path): expected at most \(PluginBundle.maximumBytes) bytes in all files")
        }
        bytes += file.count
        guard String(validating: file, as: UTF8.self) != nil else { throw refusal("\(path): the file is not UTF-8") }
    }
}

/// The names that files of a bundle may have.
enum BundleName {
    /// Whether a folder or file may have the name: letters, digits, `_`, `-` and `.` of ASCII, without a dot in front.
    static func isAllowed(_ name: Substring) -> Bool {
        !name.isEmpty && name.utf8.count <= 128 && name.utf8.first != UInt8(ascii: ".")
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && (ScalarRanges.word.contains($0.value) || $0 == "-" || $0 == ".")
            }
    }

    /// Returns the name for `require`: `lib.rules` for `lib/rules.lua`. Nil for other files, and for a source with a
    /// dot in its name.
    static func module(of path: String) -> String? {
        guard path.hasSuffix(".lua") else { return nil }
        let parts = path.dropLast(4).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ isAllowed($0) && !$0.contains(".") }) else { return nil }
        return parts.joined(separator: ".")
    }
}
