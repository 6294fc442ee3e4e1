import Foundation
import SluiceCore
import SluicePredicate
import Testing

@Suite("The documentation's predicates") struct DocumentationTests {
    // As docs/queries.md has it.
    struct Person: Codable, QueryableRecord {
        var id: String
        var name: String
        var nick: String?
        var age: Int

        enum CodingKeys: String, CodingKey { case id, name, nick = "nickName", age }
    }

    @Test("the example finds adults by name") func example() throws {
        let query = try TableQuery("people", where: #Predicate<Person> { $0.age >= 18 && $0.name.contains("a") })
            .sorted(by: \Person.name)
        let people: [JSON] = [
            ["id": "1", "name": "Maja", "age": 18], ["id": "2", "name": "Bob", "age": 30],
            ["id": "3", "name": "Clara", "age": 40], ["id": "4", "name": "Hans", "age": 17],
        ]
        let found = try TableQuery.Evaluator(query, schema: nil).apply(to: people)
        #expect(found.compactMap { $0["name"]?.string } == ["Clara", "Maja"])
    }
}
