import SluiceCore
import Testing

@Suite("Places") struct GeographyPointTests {
    private static let quarter = 6_371_008.8 * Double.pi / 2

    @Test(
        "a distance is the way along a sphere, in metres",
        arguments: [
            (0.0, 0.0, 0.0, 0.0, 0.0), (0, 0, 90, 0, quarter), (0, -90, 0, 90, 2 * quarter), (17, 90, -120, 90, 0),
            (-180, 0, 180, 0, 0), (179.5, 0, -179.5, 0, quarter / 90),
            // Berlin to Paris, as atlases have it to the kilometre.
            (13.405, 52.52, 2.3522, 48.8566, 877_464),
        ])
    func distance(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ metres: Double) throws {
        let here = try #require(GeographyPoint(longitude: x1, latitude: y1))
        let there = try #require(GeographyPoint(longitude: x2, latitude: y2))
        #expect((here.distance(to: there) - metres).magnitude < 500)
        #expect((here.distance(to: there) - metres).magnitude < 0.01 || x1 == 13.405)
        #expect(here.distance(to: there) == there.distance(to: here))
    }

    @Test(
        "what is no place has no distance",
        arguments: [
            #"null"#, #""POINT(0 0)""#, #"[0, 0]"#, #"{"type": "Point"}"#, #"{"type": "Point", "coordinates": [0]}"#,
            #"{"type": "Point", "coordinates": [181, 0]}"#, #"{"type": "Point", "coordinates": [0, 90.5]}"#,
            #"{"type": "Point", "coordinates": ["0", 0]}"#, #"{"type": "LineString", "coordinates": [0, 0]}"#,
        ])
    func noPlace(_ text: String) throws {
        let filter = try QueryExpression(odata: "geo.distance(at,geography'POINT(0 0)') eq null")
        let evaluator = try TableQuery.Evaluator(TableQuery("t", filter: filter), schema: nil)
        #expect(evaluator.matches(["id": "x", "at": try JSON(parsing: text)]))
        #expect(!evaluator.matches(["id": "x", "at": ["type": "Point", "coordinates": [1, 2, 300]]]))
    }

    @Test("a filter by distance finds what is near", arguments: [("lt 880000", true), ("lt 870000", false)])
    func filter(_ comparison: String, _ matches: Bool) throws {
        let text = "geo.distance(at, geography'POINT(13.405 52.52)') \(comparison)"
        let filter = try QueryExpression(odata: text)
        let paris: JSON = ["id": "paris", "at": ["type": "Point", "coordinates": [2.3522, 48.8566]]]
        for schema in [nil, TableSchema("t", columns: [.init("at", .json)])] {
            #expect(try TableQuery.Evaluator(TableQuery("t", filter: filter), schema: schema).matches(paris) == matches)
        }
        let point = try #require(GeographyPoint(longitude: 13.405, latitude: 52.52))
        let built = column("at").distance(to: TableQuery.Term(point)) < 880_000
        #expect(try built.expression == QueryExpression(odata: text.replacing(comparison, with: "lt 880000")))
    }
}
