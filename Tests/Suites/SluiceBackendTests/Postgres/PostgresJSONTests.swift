import SluiceCore
import Testing

@testable import SluiceBackend

@Suite("Documents in jsonb") struct PostgresJSONTests {
    @Test(
        "a document with a number that jsonb writes otherwise is kept as a text, and comes back as it was sent",
        arguments: ["1e131071", "[1e5]", #"{"a":{"b":-0.0}}"#, "-0", "1E-7", #"{"sluice_json":"[1]"}"#])
    func wrapped(text: String) throws {
        let document = try JSON(parsing: text)
        let kept = PostgresJSON.kept(document)
        #expect(kept["sluice_json"]?.string == document.description)
        #expect(PostgresJSON.document(kept).description == document.description)
    }

    @Test(
        "others are kept as they are", arguments: ["1.10", "[-12.5,0,9223372036854775808]", #"{"a":"1e5","b":null}"#])
    func plain(text: String) throws {
        let document = try JSON(parsing: text)
        #expect(PostgresJSON.kept(document) == document)
        #expect(PostgresJSON.document(document) == document)
    }

    @Test("an operator's jsonb column is given no number that it writes out at length")
    func bounds() throws {
        #expect(PostgresJSON.isBounded(try JSON(parsing: #"{"a":[1e-5,2.5,1e300]}"#)))
        #expect(!PostgresJSON.isBounded(try JSON(parsing: "[1e1000]")))
        #expect(!PostgresJSON.isBounded(try JSON(parsing: "[1e-99999999999999999999]")))
    }
}
