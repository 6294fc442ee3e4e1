internal import SluiceCore
internal import SluiceLua

/// Runs a spec, `tests/NAME_spec.lua`, in the plugin's sandbox, with its modules and permissions, in a simulated world.
/// The spec loads the plugin itself into other machines and calls it there.
struct SpecRunner {
    private let bundle: PluginBundle
    private let dialect: Dialect
    private let tables: [TableSchema]

    init(_ bundle: PluginBundle, dialect: Dialect = .azureV2, tables: [TableSchema] = []) {
        self.bundle = bundle
        self.dialect = dialect
        self.tables = tables
    }

    /// Runs all `it` blocks of a spec, one call each, in their order.
    func run(_ path: String, _ spent: inout [String: Int]) async -> [FixtureResult] {
        let module = "lib." + String(path.split(separator: "/").last?.dropLast(4) ?? "spec")
        /// Replaces the module's path in messages with the path of the spec.
        func words(_ message: String) -> String {
            message.replacing("\(module.replacing(".", with: "/")).lua:", with: "\(path):")
        }
        func failed(_ message: String) -> [FixtureResult] {
            [FixtureResult(path: path, name: "can be run", hook: nil, differences: [words(message)])]
        }
        let stage = SpecStage(bundle, dialect: dialect, tables: tables)
        let rig: PluginRig
        do {
            let plan = try PluginPlan(try specBundle(path, module: module))
            rig = try await PluginRig(plan, FixtureWorld(FixtureWorld.Script(), stage: stage), isSpec: true)
        } catch {
            return failed((error as? SluiceError)?.message ?? "\(error)")
        }
        guard let hook = rig.plan.hooks[.onEvent] else { return failed("there is no hook") }
        func call(_ index: Int) -> HookCall {
            HookCall(plan: hook, arguments: [LuaArgument("event", ["index": JSON(index)])]) {
                HookAnswer($0.value ?? .null, "none")
            }
        }
        await rig.host.startProfile(of: rig.id)
        let listing = await rig.run(call(0))
        if let failure = listing.failure { return failed("\(failure)") }
        let names = (listing.answer?.value as? JSON)?.elements?.compactMap(\.string) ?? []
        if names.isEmpty { return failed("\(path) has no it(…)") }
        var results: [FixtureResult] = []
        for (index, name) in names.enumerated() {
            let run = await rig.run(call(index + 1))
            await stage.clear()
            results.append(
                FixtureResult(
                    path: path, name: name, hook: nil,
                    differences: run.failure.map { failure in
                        let place = failure.file.map { file in "\(file):\(failure.line ?? 0): " } ?? ""
                        return [words(failure.message.hasPrefix(place) ? failure.message : place + failure.message)]
                    } ?? [], cost: run.cost))
        }
        // The spec's own main is not a file of the bundle.
        for (line, fuel) in await rig.host.takeProfile(of: rig.id).members ?? [] where !line.text.hasPrefix("main.lua:")
        {
            spent[line.text, default: 0] += Int(fuel.int ?? 0)
        }
        for (line, fuel) in await stage.spent { spent[line, default: 0] += fuel }
        return results
    }

    /// Returns the bundle with the spec as `main`. Its configuration is empty: the spec passes the plugin's to
    /// `plugin`.
    private func specBundle(_ path: String, module: String) throws -> PluginBundle {
        var files = bundle.files.filter { $0.key.hasPrefix("lib/") }
        var manifest = try JSON(parsing: bundle.files[PluginManifest.fileName] ?? [])
        manifest["hooks"] = ["on_event": .object]
        manifest["config_schema"] = nil
        manifest["main"] = "main.lua"
        files[PluginManifest.fileName] = manifest.bytes()
        files["main.lua"] = Array("\(Self.words)\n\(Self.plugin)\nrequire(\"\(module)\")\n\(Self.end)".utf8)
        files[module.replacing(".", with: "/") + ".lua"] = bundle.files[path]
        return try PluginBundle(files: files, location: bundle.location)
    }

    /// The functions `describe`, `it` and `expect`, like those of busted.
    private static let words = #"""
        local tests, names = {}, {}

        function describe(name, body)
          names[#names + 1] = name
          body()
          names[#names] = nil
        end

        function it(name, body)
          names[#names + 1] = name
          tests[#tests + 1] = { name = table.concat(names, " "), body = body }
          names[#names] = nil
        end

        local function same(a, b)
          if type(a) ~= "table" or type(b) ~= "table" then return a == b end
          for k, v in pairs(a) do
            if not same(v, b[k]) then return false end
          end
          for k in pairs(b) do
            if a[k] == nil then return false end
          end
          return true
        end

        local function shown(v)
          if type(v) == "string" then return string.format("%q", v) end
          if type(v) ~= "table" then return tostring(v) end
          local ok, text = pcall(json.encode, v)
          return ok and text or "a table"
        end

        function expect(value)
          local function claim(holds, words)
            if not holds then error("expected " .. words .. ", found " .. shown(value), 3) end
          end
          return {
            to_be = function(other) claim(value == other, shown(other)) end,
            to_equal = function(other) claim(same(value, other), shown(other)) end,
            to_be_truthy = function() claim(value, "something true") end,
            to_be_falsy = function() claim(not value, "nil or false") end,
            to_fail = function(text)
              local ok, message = pcall(value)
              if ok then error("expected a failure, found none", 2) end
              message = tostring(message)
              if text and not message:find(text, 1, true) then
                error("expected a failure with " .. shown(text) .. ", found " .. shown(message), 2)
              end
            end,
          }
        end
        """#

    /// The function `plugin`, which loads the plugin and returns a function for each of its hooks.
    private static let plugin = #"""

        local function filled(t) return t ~= nil and (type(t) ~= "table" or next(t) ~= nil) and t or json.object {} end

        function plugin(options)
          local number, hooks = spec.load(filled(options)), {}
          for _, name in ipairs {
            "filter", "request", "response", "before_enqueue", "before_push", "on_conflict", "on_push_error",
            "after_pull", "after_pull_page", "on_schedule", "on_event",
          } do
            hooks[name] = function(given, around, last)
              if given == hooks then given, around = around, last end
              return spec.ask(number, name, filled(given), filled(around))
            end
          end
          return hooks
        end
        """#

    private static let end = #"""
        local function on_event(event)
          local index = event.index
          if index > 0 then return tests[index].body() end
          local all = {}
          for i, test in ipairs(tests) do all[i] = test.name end
          return json.array(all)
        end

        return { on_event = on_event }
        """#
}
