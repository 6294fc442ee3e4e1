import Foundation
import SluiceBase
import SluiceWire
import Testing

@testable import SluiceOData

@Suite("what a service says of its data")
struct MetadataTests {
    private static let json = #"""
        {"$Version":"4.01","$EntityContainer":"Shop.Model.C",
         "Shop.Model":{"$Alias":"S",
          "Base":{"$Kind":"EntityType","$Abstract":true,"$Key":["Number"],"Number":{"$MaxLength":10}},
          "Order":{"$Kind":"EntityType","$BaseType":"S.Base",
           "Total":{"$Type":"Edm.Decimal","$Precision":15,"$Scale":2,"$Nullable":true},
           "State":{"$Type":"S.State"},"Weight":{"$Type":"S.Grams"},"Tags":{"$Collection":true},
           "Draft":{"@Sync.ClientOnly":true},
           "Customer":{"$Kind":"NavigationProperty","$Type":"S.Customer","$ReferentialConstraint":{"CustomerID":"ID"}},
           "Lines":{"$Kind":"NavigationProperty","$Type":"S.Line","$Collection":true}},
          "Line":{"$Kind":"EntityType","$Key":[{"OrderNumber":"Order/Number"},"Item"],"Item":{"$Type":"Edm.Int32"}},
          "Customer":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Guid"}},
          "State":{"$Kind":"EnumType","Open":0,"Closed":1},
          "Grams":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Int32"},
          "C":{"$Kind":"EntityContainer",
           "Orders":{"$Collection":true,"$Type":"S.Order","$NavigationPropertyBinding":{"Customer":"Customers"}},
           "Customers":{"$Collection":true,"$Type":"S.Customer"},
           "Me":{"$Type":"S.Customer"},"Longest":{"$Function":"S.Longest"}},
          "$Annotations":{"S.Base/Number":{"@Org.OData.Core.V1.Computed":true},"S.C/Customers":{"@Sync.LocalDraft":true}}}}
        """#

    private static let xml = #"""
        <?xml version="1.0"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop.Model" Alias="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Base" Abstract="true"><Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.String" Nullable="false" MaxLength="10"/></EntityType>
        <EntityType Name="Order" BaseType="S.Base">
        <Property Name="Total" Type="Edm.Decimal" Precision="15" Scale="2"/><Property Name="State" Type="S.State" Nullable="false"/>
        <Property Name="Weight" Type="S.Grams" Nullable="false"/><Property Name="Tags" Type="Collection(Edm.String)" Nullable="false"/>
        <Property Name="Draft" Type="Edm.String" Nullable="false"><Annotation Term="Sync.ClientOnly" Bool="true"/></Property>
        <NavigationProperty Name="Customer" Type="S.Customer"><ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Lines" Type="Collection(S.Line)"/></EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="Order/Number" Alias="OrderNumber"/><PropertyRef Name="Item"/></Key>
        <Property Name="Item" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Guid" Nullable="false"/></EntityType>
        <EnumType Name="State"><Member Name="Open" Value="0"/><Member Name="Closed" Value="1"/></EnumType>
        <TypeDefinition Name="Grams" UnderlyingType="Edm.Int32"/>
        <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="S.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/></EntitySet>
        <EntitySet Name="Customers" EntityType="S.Customer"/><Singleton Name="Me" Type="S.Customer"/><FunctionImport Name="Longest" Function="S.Longest"/></EntityContainer>
        <Annotations Target="S.Base/Number"><Annotation Term="Org.OData.Core.V1.Computed"/></Annotations>
        <Annotations Target="S.C/Customers"><Annotation Term="Sync.LocalDraft"/></Annotations>
        </Schema></edmx:DataServices></edmx:Edmx>
        """#

    private func model(_ text: String) throws -> EdmModel { try EdmModel(document: Array(text.utf8)) }

    @Test("CSDL JSON says the same as CSDL XML")
    func json() throws {
        let (json, xml) = (try model(Self.json), try model(Self.xml))
        #expect(json == xml)
        let order = try json.whole("Shop.Model.Order")
        #expect(order.properties.map(\.name.text) == ["Number", "Total", "State", "Weight", "Tags", "Draft"])
        #expect(order.key == ["Number"])
        #expect(order.navigation.map(\.isCollection) == [false, true])
        #expect(json.sets.map(\.isSingleton) == [false, false, true])
        #expect(json.operations == ["Longest"])
        #expect(json.clientOnly == ["Orders": ["Draft"]])
        #expect(json.localDrafts == ["Customers"])
        let set = try #require(try json.entitySet("Orders"))
        #expect(set.assignsKey)
        #expect(set.types["Weight"] == .int32)
    }

    @Test(
        "what is no description in JSON is refused",
        arguments: ["{", "{}", #"{"$Version":"3.0"}"#, #"{"value":[]}"#, #"{"$Version":4}"#])
    func noJSON(_ text: String) {
        let error = #expect(throws: SluiceError.self) { try model(text) }
        #expect(error?.code == .brokenProtocol)
    }

    @Test("Swift types have the service's names in their coding keys, and names of Swift")
    func swift() throws {
        let swift = try model(Self.json).swift
        #expect(
            swift.hasPrefix(
                #"""
                import Foundation
                import Sluice

                /// A row of Orders. Its id is Number.
                struct Orders: SyncRecord {
                    static let tableName = "Orders"
                    var id: String?
                    var number: String?
                    var total: Decimal?
                    var state: String?
                    var weight: Int64?
                    var draft: String?
                    var version: String?

                    enum CodingKeys: String, CodingKey {
                        case id, version
                        case number = "Number"
                        case total = "Total"
                        case state = "State"
                        case weight = "Weight"
                        case draft = "Draft"
                    }
                }
                """#), "\(swift)")
    }

    @Test("names that are none in Swift become some, and a name cannot leave its literal")
    func names() throws {
        let text = #"""
            {"$Version":"4.0","N":{"T":{"$Kind":"EntityType","$Key":["K"],"K":{},"class":{},"URLPath":{},"1st":{},"a-b":{},
            "a_b":{},"quote\"\n\\(x)":{}},"C":{"$Kind":"EntityContainer","s":{"$Collection":true,"$Type":"N.T"}}}}
            """#
        let swift = try model(text).swift
        for line in [
            "struct S:", "var `class`: String?", "var urlPath: String?", "var value1st: String?", "var aB: String?",
            "var aB2: String?", #"case quoteX = "quote\"\u{a}\\(x)""#,
        ] { #expect(swift.contains(line), "\(line)\n\(swift)") }
    }

    @Test("navigation in a type within a type, and associations that are not there, end nothing")
    func nested() throws {
        let text = #"""
            <Edmx Version="1.0"><Schema Namespace="N"><EntityType Name="A"><NavigationProperty Name="x" Relationship="N.r" ToRole="t">
            <EntityType Name="B"/></NavigationProperty></EntityType></Schema></Edmx>
            """#
        #expect(try model(text).structures.map(\.name) == ["N.B"])
    }

    @Test("bytes that are no UTF-8 are refused, in metadata and in refusals")
    func noUTF8() {
        var bytes = Array(Self.xml.utf8)
        bytes.insert(contentsOf: [0xC7, 0xC7], at: bytes.firstIndex(of: UInt8(ascii: "S")) ?? 0)
        let error = #expect(throws: SluiceError.self) { try EdmModel(document: bytes) }
        #expect(error?.message.contains("UTF-8") == true)
        #expect(
            ServiceError.document(MessageBody(bytes: Array("<error><m".utf8) + [0xC7] + Array("/></error>".utf8)))
                == nil)
    }

    @Test(
        "an instruction without content ends nothing, wherever it stands",
        arguments: [
            "<?p?>", "<?p  ?>", "<!-- <?p?> -->", "<?p q?><?p?>", "<?p <?p?>", "<??>", "<?p?",
        ])
    func instruction(_ text: String) throws {
        let whole = text + #"<Edmx Version="4.0"><Schema Namespace="N"><EntityType Name="B"/></Schema></Edmx>"#
        let names = (try? model(whole))?.structures.map(\.name)
        #expect(names == ["N.B"] || text == "<??>" || text == "<?p?")
        #expect(ServiceError.document(MessageBody(bytes: Array("<error>\(text)</error>".utf8))) == nil || names != nil)
    }

    @Test("an encoding that hides signs of ASCII is refused")
    func encoding() throws {
        let rest = #"<Edmx Version="4.0"><Schema Namespace="N"><EntityType Name="B"/></Schema></Edmx>"#
        #expect(throws: SluiceError.self) { try model("<?xml version='1.0' encoding='UTF-7'?>+ADw-?p?+AD4-" + rest) }
        #expect(try model("<?xml version='1.0' encoding = \"ISO-8859-1\"?>" + rest).structures.count == 1)
    }

    @Test("a description of 10 MB is read, and one that is too large is not", .timeLimit(.minutes(1)))
    func large() throws {
        var text = #"<Edmx Version="4.0" xmlns:sap="http://www.sap.com/Protocols/SAPData"><Schema Namespace="N">"#
        var count = 0
        while text.utf8.count < 10 << 20 {
            text += "<EntityType Name=\"T\(count)\"><Key><PropertyRef Name=\"K\"/></Key>"
            for number in 0..<20 {
                text +=
                    "<Property Name=\"P\(number)\" Type=\"Edm.String\" MaxLength=\"40\" sap:label=\"A label of it\"/>"
            }
            text += "<Property Name=\"K\" Type=\"Edm.Int64\" Nullable=\"false\"/></EntityType>"
            count += 1
        }
        text +=
            "<EntityContainer Name=\"C\"><EntitySet Name=\"Last\" EntityType=\"N.T\(count - 1)\"/></EntityContainer>"
        let model = try model(text + "</Schema></Edmx>")
        #expect(model.structures.count == count)
        #expect(try model.entitySet("Last")?.key.map(\.type) == [.int64])
        let error = #expect(throws: SluiceError.self) {
            try EdmModel(document: Array(repeating: UInt8(ascii: " "), count: (64 << 20) + 1))
        }
        #expect(error?.code == .tooLarge)
    }
}
