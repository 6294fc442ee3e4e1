internal import SluiceCore
internal import SluiceLua

/// Asks a Lua machine whether the names that a plugin uses exist, so that no list has to be kept in step with it.
enum GlobalProbe {
    /// The fault of a name.
    enum Verdict: Sendable, Hashable {
        /// The name does not exist.
        case unknown
        /// The name is part of Lua, but plugins do not have it.
        case blocked
    }

    /// Looks up names. A path leads from a global to a member: `["crypto", "uuid"]`.
    ///
    /// - Throws: ``ScriptFailure`` if there is no memory for a machine.
    static func verdicts(_ paths: Set<[String]>) throws(ScriptFailure) -> [[String]: Verdict] {
        let list = paths.map { path in "{ \(path.map { "\"\($0)\"" }.joined(separator: ", ")) }" }
        let text = "local paths = {\n\(list.joined(separator: ",\n"))\n}\n\(look)"
        let vm = try LuaVM { _, _, _, _ in .value(nil) }
        let found = try vm.load(
            prelude: Prelude.source, sources: [LuaSource(name: "main", text: Array(text.utf8))],
            environment: ["config": .object, "deployment": ["labels": .object]],
            budget: HookKind.initialize.budget.sandbox(isDeterministic: true, mayWait: false))
        var verdicts: [[String]: Verdict] = [:]
        for line in found {
            let parts = line.split(separator: " ").map(String.init)
            guard parts.count == 2 else { continue }
            verdicts[parts[1].split(separator: ".").map(String.init)] = parts[0] == "blocked" ? .blocked : .unknown
        }
        return verdicts
    }

    /// Functions that plugins do not have report it when called. Functions of the host are not called.
    private static let look = #"""
        local own = { string = true, table = true, math = true, utf8 = true }
        local found = {}
        local function index(value, name) return value[name] end
        local function is_blocked(message) return tostring(message):find("not available to plugins", 1, true) ~= nil end
        local function look(path)
          local name = table.concat(path, ".")
          local value = _G
          for _, part in ipairs(path) do
            if type(value) ~= "table" then return end
            local ok, member = pcall(index, value, part)
            if not ok and is_blocked(member) then
              found["blocked " .. name] = look
              return
            end
            if not ok or member == nil then
              found["unknown " .. name] = look
              return
            end
            value = member
          end
          if type(value) ~= "function" or #path > 1 and not own[path[1]] then return end
          local ok, message = pcall(value)
          if not ok and is_blocked(message) then found["blocked " .. name] = look end
        end
        for _, path in ipairs(paths) do look(path) end
        return found
        """#
}
