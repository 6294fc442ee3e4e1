internal import CLuaSandbox

/// Texts as the sandbox takes them, alive as long as the body runs.
enum LuaTexts {
    /// Calls `body` with a chunk's name and text.
    static func with<Result>(_ source: LuaSource, _ body: (sluice_source) -> Result) -> Result {
        source.name.withCString { name in
            source.file.withCString { file in
                source.text.withUnsafeBytes { bytes in
                    body(
                        sluice_source(
                            name: name, text: bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                            length: bytes.count, file: file))
                }
            }
        }
    }

    /// Calls `body` with all chunks.
    static func with<Result>(
        _ sources: ArraySlice<LuaSource>, after done: [sluice_source] = [], _ body: ([sluice_source]) -> Result
    ) -> Result {
        guard let first = sources.first else { return body(done) }
        return with(first) { with(sources.dropFirst(), after: done + [$0], body) }
    }
}

extension LuaSource {
    init(_ source: PluginBundle.Source) { self.init(name: source.name, file: source.path, text: source.text) }
}
