import SluiceCore
import SluiceLua
import Testing

@Suite("The schema of a configuration")
struct ConfigSchemaTests {
    private func schema(_ text: String) throws -> ConfigSchema {
        let manifest = try PluginManifestTests.text(#"{"config_schema": \#(text)}"#)
        return try PluginManifest(bytes: Array(manifest.utf8)).configSchema
    }

    /// A schema with one property `x`.
    private func filled(_ property: String, _ value: String) throws -> JSON? {
        try schema(#"{"type": "object", "properties": {"x": \#(property)}}"#)
            .filled(JSON(parsing: #"{"x": \#(value)}"#))["x"]
    }

    private func refusal(_ property: String, _ value: String) -> String {
        #expect(throws: SluiceError.self) { try filled(property, value) }?.message ?? ""
    }

    private func refusal(schema text: String) -> String {
        #expect(throws: SluiceError.self) { try schema(text) }?.message ?? ""
    }

    @Test("defaults are filled in, inside of what is there, and nothing else changes")
    func defaults() throws {
        let schema = try schema(
            #"""
            {"type": "object", "properties": {
              "rule": {"type": "string", "enum": ["newest", "max"], "default": "newest"},
              "pause": {"type": "string", "format": "duration", "default": "1500ms"},
              "window": {"type": "object", "properties": {"from": {"type": "integer", "default": 22},
                         "to": {"type": "integer"}}, "default": {"to": 6}},
              "list": {"type": "array", "items": {"type": "object", "properties": {
                       "on": {"type": "boolean", "default": true}, "t": {"type": "string", "format": "table"}}}}}}
            """#)
        #expect(
            try schema.filled(.object).description
                == #"{"rule":"newest","pause":1.5,"window":{"to":6,"from":22}}"#)
        #expect(
            try schema.filled(JSON(parsing: #"{"list": [{}, {"on": false, "t": "todo"}], "pause": "2m"}"#)).description
                == #"{"list":[{"on":true},{"on":false,"t":"todo"}],"pause":120,"rule":"newest","window":{"to":6,"from":22}}"#
        )
    }

    @Test(
        "a value that fits stays as it is",
        arguments: [
            (#"{"type": "number", "minimum": 0, "maximum": 1}"#, "0.5"), (#"{"type": "integer"}"#, "5.0"),
            (#"{"type": ["string", "null"]}"#, "null"), (#"{"enum": [1, "a", null]}"#, "null"),
            (#"{"const": {"a": [1]}}"#, #"{"a": [1]}"#),
            (#"{"type": "string", "minLength": 2, "maxLength": 2}"#, "\"é😀\""),
            (#"{"type": "array", "minItems": 1, "maxItems": 2}"#, "[1, \"a\"]"),
            (#"{"type": "string", "pattern": "^[a-z]+$"}"#, "\"abc\""),
            (#"{"type": "object", "additionalProperties": true}"#, #"{"any": {"thing": 1}}"#),
            (#"{"type": "object", "additionalProperties": {"type": "integer"}}"#, #"{"a": 1}"#),
            (#"{"type": "string", "format": "uri"}"#, "\"https://example.com:8080/a?b=c\""),
            (#"{"type": "string", "format": "secret"}"#, "\"geo.key_1-2\""), ("{}", "[[[1]]]"),
            (#"{"type": "number", "maximum": 18446744073709551616}"#, "18446744073709551615"),
        ])
    func fits(property: String, value: String) throws {
        #expect(try filled(property, value) == JSON(parsing: value))
    }

    @Test(
        "a value that does not fit is refused with the place, the expected type and what is there",
        arguments: [
            (#"{"type": "integer"}"#, "1.5", "config /x: expected a whole number, found 1.5"),
            (#"{"type": "boolean"}"#, "\"true\"", "expected true or false, found \"true\""),
            (#"{"type": ["string", "null"]}"#, "[]", "expected a text or null, found an empty list"),
            (#"{"type": "number", "minimum": 0, "maximum": 1}"#, "2", "expected a number from 0 to 1, found 2"),
            (#"{"type": "integer", "minimum": 3}"#, "2", "expected a number of 3 or more, found 2"),
            (#"{"type": "integer", "maximum": 3}"#, "1e400", "expected a whole number, found 1e400"),
            (#"{"enum": ["a", "b"]}"#, "\"c\"", "expected one of \"a\", \"b\", found \"c\""),
            (#"{"const": 1}"#, "2", "expected 1, found 2"),
            (#"{"type": "string", "minLength": 1}"#, "\"\"", "expected a text of 1 or more characters"),
            (#"{"type": "string", "maxLength": 1}"#, "\"ab\"", "expected a text of 0 to 1 characters"),
            (#"{"type": "string", "pattern": "^a$"}"#, "\"b\"", "expected a text that matches ^a$, found \"b\""),
            (#"{"type": "array", "maxItems": 1}"#, "[1, 2]", "expected a list of 0 to 1, found one of 2"),
            (#"{"type": "array", "items": {"type": "string"}}"#, "[\"a\", 1]", "config /x/1: expected a text, found 1"),
            (
                #"{"type": "object", "properties": {"title": {}}}"#, #"{"titel": 1}"#,
                "/x/titel: unknown name; did you mean title?"
            ),
            (#"{"type": "object"}"#, #"{"a": 1}"#, "/x/a: unknown name; there is nothing to set"),
            (
                #"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}"#, "{}",
                "/x/a: expected a text, found nothing"
            ),
            (
                #"{"type": "object", "additionalProperties": {"type": "integer"}}"#, #"{"a/b~": "c"}"#,
                "/x/a~1b~0: expected a whole number"
            ),
            (#"{"type": "string", "format": "duration"}"#, "\"5 minutes\"", "expected a length of time such as"),
            (#"{"type": "string", "format": "duration"}"#, "\"99999999999999d\"", "expected a length of time"),
            (#"{"type": "string", "format": "table"}"#, "\"a/b\"", "expected the name of a table, found \"a/b\""),
            (#"{"type": "string", "format": "uri"}"#, "\"ftp://x\"", "expected an address such as"),
            (#"{"type": "string", "format": "uri"}"#, "\"https://user@x\"", "expected an address"),
            (#"{"type": "string", "format": "uri"}"#, "\"https://x\\r\\ny\"", "expected an address"),
        ])
    func refusals(property: String, value: String, reason: String) {
        let message = refusal(property, value)
        #expect(message.contains(reason), "\(message)")
    }

    @Test("no refusal shows what stands in the place of a secret's name")
    func secrets() {
        for (property, value) in [
            (#"{"type": "string", "format": "secret"}"#, "\"hunter 2\""),
            (#"{"type": "string", "format": "secret", "maxLength": 3}"#, "\"hunter2\""),
            (#"{"type": "string", "format": "secret", "pattern": "^[0-9]$"}"#, "\"hunter2\""),
            (#"{"type": "string", "format": "secret", "enum": ["a"]}"#, "\"hunter2\""),
        ] {
            let message = refusal(property, value)
            #expect(message.contains("found something else") && !message.contains("hunter"))
        }
    }

    @Test(
        "a schema outside of the subset, or that contradicts itself, is refused with its place",
        arguments: [
            (##"{"$ref": "#/x"}"##, "/config_schema/properties/x/$ref: there are no references here"),
            (#"{"oneOf": []}"#, "/x/oneOf: unknown name"),
            (#"{"typ": "string"}"#, "/x/typ: unknown name; did you mean type?"),
            (#"{"type": "text"}"#, "/x/type: expected one of object, array, string"),
            (#"{"type": []}"#, "/x/type: expected at least one type"),
            (#"{"type": "integer", "minLength": 1}"#, "/x/minLength: is for the type string, which type does not name"),
            (#"{"pattern": "a"}"#, "/x/pattern: is for the type string"),
            (#"{"type": "string", "minLength": 3, "maxLength": 2}"#, "/x/maxLength: expected 3 or more, found 2"),
            (#"{"type": "number", "minimum": 3, "maximum": 2}"#, "/x/maximum: expected 3 or more, found 2"),
            (
                #"{"type": "string", "pattern": "(a+)\\1"}"#,
                "/x/pattern: at character 7 of the pattern: references back"
            ),
            (#"{"type": "string", "format": "date"}"#, "/x/format: expected one of secret, table, duration, uri"),
            (#"{"enum": []}"#, "/x/enum: expected at least one value"),
            (#"{"enum": [1], "const": 1}"#, "/x/const: enum and const are not said together"),
            (#"{"type": "integer", "default": "a"}"#, "/x/default: expected a whole number, found \"a\""),
            (
                #"{"type": "array", "items": {"type": "string"}, "default": ["a", 1]}"#,
                "/x/default/1: expected a text, found 1"
            ),
            (#"{"type": "object", "required": ["a"]}"#, "/x/required/0: not among the properties"),
            (#"{"type": "object", "additionalProperties": 1}"#, "/x/additionalProperties: expected an object, found 1"),
            (#"true"#, "/x: expected an object, found true"),
        ])
    func badSchemas(property: String, reason: String) {
        let message = refusal(schema: #"{"type": "object", "properties": {"x": \#(property)}}"#)
        #expect(message.contains(reason), "\(message)")
    }

    @Test("schemas are bounded in depth, number and what their defaults multiply to")
    func bombs() throws {
        var deep = #"{"type": "string"}"#
        for _ in 0..<17 { deep = #"{"type": "array", "items": \#(deep)}"# }
        #expect(refusal(schema: #"{"type": "object", "properties": {"x": \#(deep)}}"#).contains("at most 16 deep"))
        let wide = (0..<300).map { "\"p\($0)\": {}" }.joined(separator: ",")
        #expect(refusal(schema: #"{"type": "object", "properties": {\#(wide)}}"#).contains("at most 256 members"))
        let many = (0..<5).map { index in
            "\"o\(index)\": {\"type\": \"object\", \"properties\": {"
                + (0..<250).map { "\"p\($0)\": {}" }.joined(separator: ",") + "}}"
        }.joined(separator: ",")
        #expect(refusal(schema: #"{"type": "object", "properties": {\#(many)}}"#).contains("at most 1000 schemas"))
        // Each level fills ten of the level below: ten to the power of six.
        var bomb = #"{"type": "integer", "default": 1}"#
        for _ in 0..<6 {
            let ten = Array(repeating: "{}", count: 10).joined(separator: ",")
            bomb =
                #"{"type": "object", "properties": {"l": {"type": "array", "items": \#(bomb), "default": [\#(ten)]}}}"#
        }
        bomb = bomb.replacing(#"{"type": "integer", "default": 1}"#, with: #"{"type": "object"}"#)
        #expect(refusal(schema: bomb).contains("at most 10000 values"))
    }

    @Test("configurations are bounded in depth and number")
    func bounds() throws {
        let any = #"{"type": "object", "properties": {"x": {}}}"#
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let schema = try schema(any)
        let tooDeep = #expect(throws: SluiceError.self) { try schema.filled(JSON(parsing: #"{"x": \#(deep)}"#)) }
        #expect(tooDeep?.message == "config: expected at most 32 objects and lists inside each other")
        let many = JSON((0..<20_000).map { JSON($0) })
        #expect(throws: SluiceError.self) { try schema.filled(["x": many]) }
    }
}
