import SluiceBase
import SluiceOData
import Testing

@Suite("The OData settings of a configuration")
struct ODataSettingsReaderTests {
    @Test("names with hyphens are read without a warning")
    func names() throws {
        var reader = ODataSettingsReader()
        try reader.read(JSONPlace(["update": "put", "remembers-requests": true], in: "settings", at: "/odata"))
        let table: JSON = [
            "updated-at": "Changed", "client-id": "Ref", "assigns-key": true, "delta": false, "key": ["No": "String"],
        ]
        try reader.read(JSONPlace(table, in: "settings", at: "/tables/a/odata"), of: "a")
        #expect(reader.settings.update == .put && reader.settings.remembersRequests && reader.warnings.isEmpty)
        let found = try #require(reader.settings.tables["a"])
        #expect(found.updatedAt == "Changed" && found.clientID == "Ref" && found.assignsKey == true)
        #expect(!found.tracksChanges && found.key.map(\.name) == ["No"])
    }

    @Test("former names are read with a warning that has the place and the present name")
    func formerNames() throws {
        var reader = ODataSettingsReader()
        try reader.read(JSONPlace(["remembersRequests": true], in: "settings", at: "/odata"))
        let table: JSON = ["updatedAt": "Changed", "clientID": "Ref", "assignsKey": true]
        try reader.read(JSONPlace(table, in: "settings", at: "/tables/a/odata"), of: "a")
        #expect(reader.settings.remembersRequests && reader.settings.tables["a"]?.updatedAt == "Changed")
        #expect(reader.settings.tables["a"]?.clientID == "Ref" && reader.settings.tables["a"]?.assignsKey == true)
        #expect(reader.warnings.count == 4)
        let warning = "settings /odata/remembersRequests: remembersRequests is called remembers-requests now"
        #expect(reader.warnings.first?.hasPrefix(warning) == true)
    }

    @Test("a name in both spellings, and an unknown name, are refused with their place")
    func mistakes() {
        for (odata, reason) in [
            (["updatedAt": "a", "updated-at": "b"], "settings /odata/updatedAt: updatedAt is the former name"),
            (["updated": "a"], "settings /odata/updated: unknown name; did you mean updated-at?"),
        ] as [(JSON, String)] {
            var reader = ODataSettingsReader()
            let error = #expect(throws: SluiceError.self) {
                try reader.read(JSONPlace(odata, in: "settings", at: "/odata"), of: "a")
            }
            #expect(error?.message.hasPrefix(reason) == true, "\(String(describing: error))")
        }
    }
}
