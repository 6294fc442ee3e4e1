import CLuaSandbox
import Glibc
import RepositoryFiles
import Testing

@Suite("The page about the sandbox")
struct DocumentationTests {
    /// Up to the part about servers, whose examples need a server.
    private static let page = read("docs/plugins-policy.md").components(separatedBy: "\n## Plugins on a server\n")[0]

    @Test("its examples run")
    func examples() throws {
        let blocks = Self.page.components(separatedBy: "```lua\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let answer = try Sandbox.run(block)
            #expect(answer.outcome == SLUICE_DONE, "\(answer)")
        }
    }

    @Test("it names each function that is there, and each that is gone")
    func functions() throws {
        let listed = try Sandbox.run(
            """
            local out = {}
            local given = { wait = true, echo = true, refuse = true, deny = true, fail = true, new = true, freeze = true,
              fuel_left = true }
            local function add(name, value)
              if type(value) ~= 'function' or given[name] then return end
              local ok, message = pcall(value)
              local is_gone = not ok and tostring(message):find('not available')
              out[#out + 1] = (is_gone and '-' or '+') .. name
            end
            for name, value in pairs(_G) do add(name, value) end
            for _, library in ipairs { 'string', 'table', 'math', 'utf8' } do
              for name, value in pairs(_G[library]) do add(library .. '.' .. name, value) end
            end
            table.sort(out)
            return out
            """)
        let names = Value(listed.result ?? "[]").texts
        #expect(names.count > 70)
        let here = Self.section("## Functions of Lua")
        let gone = Self.section("## Functions that are gone")
        for entry in names {
            let name = String(entry.dropFirst())
            let last = name.components(separatedBy: ".").last ?? name
            if entry.hasPrefix("-") {
                #expect(gone.contains(name), "\(name)")
            } else if !name.hasPrefix("math.") && !name.hasPrefix("utf8.") {
                #expect(here.contains(last), "\(name)")
            }
        }
    }

    private static func section(_ title: String) -> String {
        page.components(separatedBy: title).last?.components(separatedBy: "\n## ").first ?? ""
    }

    /// A file of the repository.
    private static func read(_ path: String) -> String {
        guard let file = fopen(Repository.path(path), "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

extension String {
    /// The parts between the places where the separator stands.
    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
