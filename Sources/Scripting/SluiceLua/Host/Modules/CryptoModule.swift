internal import Crypto
internal import SluiceCore

extension HostModule {
    static let crypto = HostModule(
        "crypto", "sluice.Crypto",
        "Digests and encodings of text, or of a body: `req.body` in the place of a text is taken as its bytes, whatever they are.",
        before: #"""
            -- A body in the place of a text is taken as its bytes, whatever they are: the host has them.
            local function bytewise(name)
              return function(v, encoding)
                if type_of(v) == "body" then return host("body." .. name, get(v, "slot"), encoding) end
                return host("crypto." .. name, v, encoding)
              end
            end

            """#,
        [
            .host(
                "sha256", [("text", "string|sluice.Body"), ("encoding?", "string")], "string",
                "SHA-256, as hexadecimal digits or `base64`.", lua: #"bytewise "sha256""#
            ) { .value(try CryptoFunctions.digest($0.arguments)) },
            .host(
                "hmac_sha256", [("key", "string"), ("text", "string|sluice.Body"), ("encoding?", "string")], "string",
                "HMAC-SHA-256. The key may be a secret's handle; an empty one is an error.",
                lua: #"""
                    function(key, v, encoding)
                      if type_of(v) == "body" then return host("body.hmac", get(v, "slot"), encoding, key) end
                      return host("crypto.hmac_sha256", key, v, encoding)
                    end
                    """#
            ) { .value(try CryptoFunctions.code($0.arguments, secret: $0.host.secrets.revealed)) },
            .host(
                "base64", [("text", "string|sluice.Body")], "string", "The text in base64.", fuel: 8,
                lua: #"bytewise "base64""#
            ) { .value(try CryptoFunctions.base64($0.arguments)) },
            .host(
                "base64_decode", [("text", "string")], "string?",
                "The text that base64 says; nil if the text is not base64.", fuel: 8
            ) { .value(try CryptoFunctions.decoded($0.arguments)) },
            .host(
                "hex", [("text", "string|sluice.Body")], "string", "The bytes as hexadecimal digits.", fuel: 8,
                lua: #"bytewise "hex""#
            ) { .value(try CryptoFunctions.hex($0.arguments)) },
            .host(
                "seal", [("key", "string"), ("text", "string"), ("context?", "string")], "string",
                "The text encrypted with AES-256-GCM, in base64. The key is a secret's handle, of 16 bytes or more; only "
                    + "`open` with the same context reads it. The same input gives the same text, so that an unchanged "
                    + "field stays unchanged, and equal fields can be seen to be equal: give the record's id as context.",
                fuel: 8
            ) { .value(try CryptoFunctions.seal($0.arguments, secret: $0.host.secrets.revealed)) },
            .host(
                "open", [("key", "string"), ("sealed", "string"), ("context?", "string")], "string?",
                "The text that `seal` made with that key and context; nil for anything else.", fuel: 8
            ) { .value(try CryptoFunctions.open($0.arguments, secret: $0.host.secrets.revealed)) },
            .host("uuid", [], "string", "A new UUID. Needs the permission `random`.", permission: .random) {
                .value(try CryptoFunctions.chance($0))
            },
            .host(
                "random", [], "number",
                "A number from 0 up to but not 1. As Lua's `math.random` it needs the permission `random`.",
                permission: .random
            ) { .value(try CryptoFunctions.chance($0)) },
        ])
}

/// `crypto`: digests, codes and encodings of text. Bytes are returned as hexadecimal digits, or as `base64`.
enum CryptoFunctions {
    private static func encoded(_ bytes: some Sequence<UInt8>, _ encoding: String?) throws -> JSON {
        switch encoding {
        case nil, "hex": return JSON(Base16.text(Array(bytes)))
        case "base64": return JSON(Base64.text(Array(bytes)))
        case let other?: throw ScriptFailure(.runtime, "there is no encoding \(other.prefix(64)); use hex or base64")
        }
    }

    static func digest(_ arguments: HostArguments) throws -> JSON {
        try digest(Array(arguments.text(0).utf8), arguments.optionalText(1))
    }

    static func digest(_ bytes: [UInt8], _ encoding: String?) throws -> JSON {
        try encoded(SHA256.hash(data: bytes), encoding)
    }

    /// Returns an HMAC. The key may be a secret's handle.
    static func code(_ arguments: HostArguments, secret: (String) -> String) throws -> JSON {
        try code(
            Array(arguments.text(1).utf8), key: arguments.text(0, "a key that is text"), arguments.optionalText(2),
            secret: secret)
    }

    /// Returns an HMAC. An empty key is refused, because anybody can sign with it.
    private static func code(
        _ bytes: [UInt8], key: String, _ encoding: String?, secret: (String) -> String
    ) throws -> JSON {
        let key = Array(secret(key).utf8)
        guard !key.isEmpty else { throw ScriptFailure(.runtime, "crypto.hmac_sha256 takes a key, and it is empty") }
        return try encoded(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)), encoding)
    }

    /// Returns the HMAC of a body. The arguments after the body's index are the encoding and the key.
    static func code(
        _ bytes: [UInt8], _ arguments: HostArguments, secret: (String) -> String
    ) throws -> JSON {
        try code(bytes, key: arguments.text(2, "a key that is text"), arguments.optionalText(1), secret: secret)
    }

    /// The keys of a secret: one encrypts, the other makes nonces.
    private struct SealKeys {
        let encryption: SymmetricKey
        let nonces: SymmetricKey

        init(_ secret: String, _ function: String) throws {
            let bytes = Array(secret.utf8)
            guard bytes.count >= 16 else {
                throw ScriptFailure(.runtime, "\(function) takes a key of at least 16 bytes")
            }
            func key(_ purpose: String) -> SymmetricKey {
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: SymmetricKey(data: bytes), info: Array("sluice.\(purpose)".utf8),
                    outputByteCount: 32)
            }
            (encryption, nonces) = (key("seal"), key("nonce"))
        }

        /// Returns the nonce of a text: a code of all that is sealed, so that no two texts share one.
        func nonce(_ text: [UInt8], _ context: [UInt8]) throws -> AES.GCM.Nonce {
            var input = Array("\(context.count) ".utf8)
            input += context + text
            return try AES.GCM.Nonce(data: Array(HMAC<SHA256>.authenticationCode(for: input, using: nonces)).prefix(12))
        }
    }

    /// Encrypts a text. The key may be a secret's handle.
    static func seal(_ arguments: HostArguments, secret: (String) -> String) throws -> JSON {
        let keys = try SealKeys(secret(arguments.text(0, "a key that is text")), arguments.function)
        let (text, context) = (Array(try arguments.text(1).utf8), Array((try arguments.optionalText(2) ?? "").utf8))
        let sealed = try AES.GCM.seal(
            text, using: keys.encryption, nonce: keys.nonce(text, context), authenticating: context)
        guard let combined = sealed.combined else { throw ScriptFailure(.runtime, "the text cannot be sealed") }
        return JSON(Base64.text(Array(combined)))
    }

    /// Decrypts a text; nil for one that was not sealed with that key and context.
    static func open(_ arguments: HostArguments, secret: (String) -> String) throws -> JSON? {
        let keys = try SealKeys(secret(arguments.text(0, "a key that is text")), arguments.function)
        let context = Array((try arguments.optionalText(2) ?? "").utf8)
        guard let bytes = Base64.bytes(try arguments.text(1)), let box = try? AES.GCM.SealedBox(combined: bytes),
            let text = try? AES.GCM.open(box, using: keys.encryption, authenticating: context)
        else { return nil }
        return String(validating: Array(text), as: UTF8.self).map { JSON($0) }
    }

    static func base64(_ arguments: HostArguments) throws -> JSON {
        JSON(Base64.text(Array(try arguments.text(0).utf8)))
    }

    static func hex(_ arguments: HostArguments) throws -> JSON { JSON(Base16.text(Array(try arguments.text(0).utf8))) }

    /// Returns the decoded text; nil if it is not base64, or its bytes are not UTF-8.
    static func decoded(_ arguments: HostArguments) throws -> JSON? {
        Base64.bytes(try arguments.text(0)).flatMap { String(validating: $0, as: UTF8.self) }.map { JSON($0) }
    }

    /// Returns a whole number like `math.random(m, n)`: from `m`, or 1, to the last argument; for 0 alone any number.
    private static func whole(_ arguments: HostArguments, using generator: inout some RandomNumberGenerator) throws
        -> JSON
    {
        let bounds = (arguments.values.elements ?? []).map { value in
            value.int ?? value.double.flatMap { Int64(exactly: $0) }
        }
        guard bounds.count <= 2, let first = bounds.first ?? nil, let last = bounds.last ?? nil else {
            throw ScriptFailure(.runtime, "math.random takes nothing, or one or two whole numbers")
        }
        if bounds.count == 1, last == 0 { return JSON(Int64.random(in: .min ... .max, using: &generator)) }
        let least = bounds.count == 1 ? 1 : first
        guard least <= last else { throw ScriptFailure(.runtime, "math.random: the interval is empty") }
        return JSON(Int64.random(in: least...last, using: &generator))
    }

    /// Returns a random value: the same in each run of a deterministic plugin, and of a host with a seed.
    static func chance(_ call: HostFunctionCall) throws -> JSON {
        guard call.host.isDeterministic || call.host.settings.seed != nil else {
            var generator = SystemRandomNumberGenerator()
            return try chance(call.arguments, using: &generator)
        }
        guard let hook = call.hook else {
            throw Denied("\(call.arguments.function) cannot be used while a deterministic plugin is loaded")
        }
        return try chance(call.arguments, using: &hook.random)
    }

    /// Returns a UUID of version 4, or a random number: from 0 to below 1, or a whole one between bounds.
    private static func chance(
        _ arguments: HostArguments, using generator: inout some RandomNumberGenerator
    ) throws -> JSON {
        let function = arguments.function
        if function == "crypto.random" || function == "math.random" && arguments.values.count == 0 {
            return JSON(Double.random(in: 0..<1, using: &generator))
        }
        if function == "math.random" { return try whole(arguments, using: &generator) }
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Base16.text(bytes))
        return JSON([0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-"))
    }
}
