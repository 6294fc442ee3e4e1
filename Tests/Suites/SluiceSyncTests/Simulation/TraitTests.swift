import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("What plain servers and applications do in stories")
struct TraitTests {
    @Test("each trait is in about one story of twelve, and most stories are without the others")
    func draws() {
        let simulation = Simulation()
        let settings = (1...1200 as ClosedRange<UInt64>).map { simulation.story(of: $0).setting }
        func share(_ name: String, _ has: (SimulationSetting) -> Bool) {
            #expect((50...160).contains(settings.filter(has).count), "\(name)")
        }
        for fault in StoryGenerator.plainFaults { share(fault.rawValue) { $0.faults[fault] != nil } }
        for trait in StoryGenerator.plainTraits { share(trait.rawValue) { $0.traits.contains(trait) } }
        share("reconsiders") { $0.reconsiders }
        share("tidiesPages") { $0.tidiesPages }
    }

    @Test("ids are compared without case, and written in capitals wherever they stand")
    func capitals() {
        let ids = SimulatedIDs([.capitalIDs])
        let written = ids.id(10)
        #expect(written.text == "a1b2c3d4-0000-4000-8000-00000000000a")
        #expect(ids.known(written).text == "A1B2C3D4-0000-4000-8000-00000000000A")
        #expect(ids.known("7/\(written)") == "7/\(ids.known(written))")
        #expect(ids.known(["id": JSON(written), "b": "a"]) == ["id": JSON(ids.known(written)), "b": "a"])
        #expect(SimulatedIDs([]).known("r1") as RecordID == "r1")
    }

    @Test("ids are sorted without case, where they are compared with it")
    func order() {
        let ids = SimulatedIDs([.sortsWithoutCase])
        let all = (0..<4).map { ids.id($0) }
        #expect(all == ["r0", "R1", "r2", "R3"])
        #expect(all.sorted { ids.areInOrder($0, $1) } == all)
        #expect(all.sorted() != all)
    }

    @Test("an error stands beside half of the rows, and a record with one is none any more")
    func errors() throws {
        let page = SyncResponse.model(200, ["items": [["id": "1"], ["id": "2"]]]).withErrorBesideRows()
        let body = try page.body.json
        #expect(body["items"] == [["id": "1"]])
        #expect(body["error"] != nil)
        let record = SyncResponse.model(200, ["id": "1", "version": "v1", "a": 1, "b": 2], version: "v1")
        let broken = record.withErrorBesideRows()
        #expect(try broken.body.json["id"] == nil)
        #expect(try broken.body.json["error"] != nil)
        #expect(broken.head.headerFields[.eTag] == nil)
    }

    @Test("what a hook makes of a row is known again, and seen where an update writes it")
    func tidying() {
        let fields = SimulatedFields(areTwins: false)
        #expect(fields.tidied(["id": "1", "a": 1, "b": 4]) == ["id": "1", "a": 1])
        #expect(fields.tidied(["id": "1", "b": 5]) == ["id": "1", "b": -5])
        #expect(fields.value("b", of: ["b": -5]) == 5)
        #expect(fields.writesTidying(over: ["b": 4], ["a": 1]))
        #expect(fields.writesTidying(over: ["b": 5], ["b": -5]))
        #expect(!fields.writesTidying(over: ["b": 5], ["b": 6]))
        #expect(!fields.writesTidying(over: ["b": 5], ["b": 5]))
    }
}
