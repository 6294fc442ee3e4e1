extension Prelude {
    /// The modules: what they do is the host's, except for what is quicker said in Lua.
    static let modules = #"""
        local json = {
          encode = p.json_encode, decode = p.json_decode, null = null, array = p.array,
          object = function(t) return object(t) end,
        }

        local time = { now = of "time.now", parse = of "time.parse", format = of "time.format" }
        function time.add(t, seconds) return t + seconds end

        -- Lua's own, except for chance: what depends on it has to be the same in a fixture each time.
        local numbers = {}
        for name, value in pairs(math) do numbers[name] = value end
        numbers.random = of "math.random"

        -- A body in the place of a text is taken as its bytes, whatever they are: the host has them.
        local function bytewise(name)
          return function(v, encoding)
            if type_of(v) == "body" then return host("body." .. name, get(v, "slot"), encoding) end
            return host("crypto." .. name, v, encoding)
          end
        end
        local crypto = {
          sha256 = bytewise "sha256", base64 = bytewise "base64", hex = bytewise "hex",
          hmac_sha256 = function(key, v, encoding)
            if type_of(v) == "body" then return host("body.hmac", get(v, "slot"), encoding, key) end
            return host("crypto.hmac", key, v, encoding)
          end,
          base64_decode = of "crypto.decode", uuid = of "crypto.uuid", random = of "crypto.random",
        }

        local http = { request = of "http.request" }
        local kv = { get = of "kv.get", set = of "kv.set", incr = of "kv.incr", ttl = of "kv.ttl" }
        local secrets = { get = of "secrets.get", find = of "secrets.find" }
        local store = { get = of "store.get", count = of "store.count" }

        local text = { diff3 = of "text.diff3", levenshtein = of "text.distance" }
        local function a_text(name, s)
          if type(s) == "number" then return tostring(s) end
          if type(s) ~= "string" then fail("runtime", "text." .. name .. " takes a text, not " .. shown(s)) end
          return s
        end
        function text.trim(s) return p.trim(a_text("trim", s)) end
        function text.split(s, separator)
          s = a_text("split", s)
          if separator == nil or separator == "" then error("text.split needs a separator", 2) end
          local parts, from = {}, 1
          while true do
            local i, j = find(s, separator, from, true)
            if not i then
              insert(parts, sub(s, from))
              return parts
            end
            insert(parts, sub(s, from, i - 1))
            from = j + 1
          end
        end
        function text.lines(s) return text.split(gsub(a_text("lines", s), "\r\n", "\n"), "\n") end
        function text.starts_with(s, start)
          start = a_text("starts_with", start)
          return sub(a_text("starts_with", s), 1, #start) == start
        end
        function text.ends_with(s, ending)
          ending = a_text("ends_with", ending)
          return ending == "" or sub(a_text("ends_with", s), -#ending) == ending
        end

        local log = {}
        for _, level in ipairs { "debug", "info", "warn", "error" } do
          log[level] = function(a, b, c)
            if a == log then a, b = b, c end
            if a == nil then a = "nil" end
            tell("log", level, a, b)
          end
        end
        log = freeze(log)

        -- As Lua's own writes it, into the log.
        local function print(...)
          local count, parts = select("#", ...), { ... }
          for i = 1, count do parts[i] = tostring(parts[i]) end
          tell("log", "debug", concat(parts, "\t", 1, count))
        end

        """#
}
