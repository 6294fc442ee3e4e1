import Foundation
import SluiceCore
import SluicePredicate
import Testing

/// Foundation's values in typed records.
@Suite struct FoundationValuesTests {
    struct Photo: Codable, Equatable, QueryableRecord {
        var id: String
        var takenAt: Date
        var editedAt: Date?
        var pixels: Data
        var home: URL
        var price: Decimal
        var key: UUID
        var visits: [Date] = []
        static let columns: ColumnMap<Photo> = [
            \.id: "id", \.takenAt: "takenAt", \.editedAt: "editedAt", \.home: "home", \.price: "price", \.key: "key",
            \.pixels: "pixels",
        ]
    }

    static let photo = Photo(
        id: "1", takenAt: Date(timeIntervalSince1970: 1_000_000_000.25), pixels: Data([0, 255, 16]),
        home: URL(string: "https://example.net/a%20b?c=d")!, price: Decimal(string: "19.90")!,
        key: UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0")!,
        visits: [Date(timeIntervalSince1970: 0.000_001)])

    @Test("records hold dates, bytes, addresses and decimals as servers send them")
    func encoding() throws {
        #expect(
            try JSONRecordEncoder().encode(Self.photo) == [
                "id": "1", "takenAt": "2001-09-09T01:46:40.250Z", "pixels": "AP8Q",
                "home": "https://example.net/a%20b?c=d", "price": JSON(JSON.Number(text: "19.9")!),
                "key": "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "visits": ["1970-01-01T00:00:00.0000010Z"],
            ])
        #expect(try JSONRecordEncoder().encode(Self.photo.takenAt) == "2001-09-09T01:46:40.250Z")
    }

    @Test("what was written is read back the same, and what servers write is read")
    func decoding() throws {
        let document = try JSONRecordEncoder().encode(Self.photo)
        #expect(try JSONRecordDecoder().decode(Photo.self, from: document) == Self.photo)
        let now = Date()
        let once = try JSONRecordDecoder().decode(Date.self, from: JSONRecordEncoder().encode(now))
        #expect(abs(once.timeIntervalSince(now)) < 0.000_001)
        #expect(try JSONRecordDecoder().decode(Date.self, from: JSONRecordEncoder().encode(once)) == once)
        #expect(
            try JSONRecordDecoder().decode([Date?].self, from: ["2024-01-31T12:00:00+02:00", .null])
                == [Date(timeIntervalSince1970: 1_706_695_200), nil])
    }

    @Test(
        "what is no such value is an error that names its place",
        arguments: [("takenAt", "today"), ("pixels", "%"), ("home", ""), ("price", "1")])
    func mistakes(name: String, text: String) throws {
        for value: JSON in [JSON(text), .null, true, [1]] {
            var document = try JSONRecordEncoder().encode(Self.photo)
            document[name] = value
            let error = #expect(throws: DecodingError.self) {
                try JSONRecordDecoder().decode(Photo.self, from: document)
            }
            #expect(String(describing: error).contains(name))
        }
        var photo = Self.photo
        photo.takenAt = Date(timeIntervalSince1970: .nan)
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(photo) }
        photo = Self.photo
        photo.editedAt = Date(timeIntervalSince1970: 1e300)
        #expect(throws: EncodingError.self) { try JSONRecordEncoder().encode(photo) }
    }

    @Test("a predicate finds the record that holds its constant")
    func predicates() throws {
        let photo = Self.photo
        let (taken, home, price, key, pixels) = (photo.takenAt, photo.home, photo.price, photo.key, photo.pixels)
        let day = taken.addingTimeInterval(-60)...taken.addingTimeInterval(60)
        let predicates: [Predicate<Photo>] = [
            #Predicate { $0.takenAt == taken }, #Predicate { $0.takenAt <= taken },
            #Predicate { day.contains($0.takenAt) },
            #Predicate { $0.editedAt == nil }, #Predicate { [taken].contains($0.takenAt) },
            #Predicate { $0.home == home }, #Predicate { $0.price == price }, #Predicate { $0.key == key },
            #Predicate { $0.pixels == pixels },
        ]
        for predicate in predicates {
            let query = try TableQuery("photos", where: predicate)
            let evaluator = try TableQuery.Evaluator(query, schema: nil)
            #expect(try evaluator.matches(JSONRecordEncoder().encode(photo)), "\(query)")
        }
    }

    @Test("a date that is none is refused in a predicate")
    func noDate() {
        for seconds in [Double.nan, .infinity, 1e300] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(throws: SluiceError.self) {
                try QueryExpression(#Predicate<Photo> { $0.takenAt < date })
            }
        }
    }
}
