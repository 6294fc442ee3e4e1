import SluiceOData
import Testing

@Suite("primitive types of OData")
struct EdmPrimitiveTests {
    @Test("a type is known by its full name only", arguments: ["Edm.Int64", "Edm.DateTime", "Edm.DateTimeOffset"])
    func names(_ name: String) {
        #expect(EdmPrimitive(rawValue: name)?.rawValue == name)
        #expect(EdmPrimitive(rawValue: String(name.dropFirst(4))) == nil)
    }
}
