import Foundation
import SluiceCore
import SluicePredicate
import Testing

@Suite("Predicates") struct PredicateTests {
    private static let limit = 18
    private static let names = ["Ada", "Bob's 100%"]
    private static let none: Set<Int> = []
    private static let moment = Date(timeIntervalSince1970: 1_000_000_000.25)
    private static let key = UUID(uuidString: "0f8fad5b-d9cb-469f-a165-70867728950e")!
    private static let status = Person.Status.retired
    private static let ages = 7..<36
    private static let captured = Person(name: "Adam")

    /// A predicate, what it is in OData, and whether Swift means the same for every record.
    struct Case: Sendable, CustomTestStringConvertible {
        var predicate: Predicate<Person>
        var odata: String
        var testDescription: String { odata }

        init(_ odata: String, _ predicate: Predicate<Person>) {
            self.predicate = predicate
            self.odata = odata
        }
    }

    private static let comparisons: [Case] = [
        Case("(age eq 18)", #Predicate { $0.age == 18 }),
        Case("(age ne 18)", #Predicate { $0.age != limit }),
        Case("(18 lt age)", #Predicate { limit < $0.age }),
        Case("((age ge 7) and (age le 36))", #Predicate { $0.age >= 7 && $0.age <= 36 }),
        Case("((age gt 18) or not(done))", #Predicate { $0.age > 18 || !$0.done }),
        Case("(done eq false)", #Predicate { $0.done == false }),
        Case("done", #Predicate { $0.done }),
        Case("true", #Predicate { _ in true }),
        Case("(weight gt 3.0)", #Predicate { $0.weight > 3 }),
        Case("(height eq 1.3)", #Predicate { $0.height == 1.3 }),
        Case("(name eq 'Bob''s 100%')", #Predicate { $0.name == "Bob's 100%" }),
        Case("(name gt 'Ada')", #Predicate { $0.name > "Ada" }),
        Case("(city eq 'Köln')", #Predicate { $0.address.city == "Köln" }),
        Case("(name eq 'Adam')", #Predicate { $0.name == captured.name }),
        Case("(status eq 'retired')", #Predicate { $0.status == status }),
        Case(
            "(made eq cast(2001-09-09T01:46:40.250Z,Edm.DateTimeOffset))", #Predicate { $0.made == moment }),
        Case("(made lt cast(2001-09-09T01:46:40.250Z,Edm.DateTimeOffset))", #Predicate { $0.made < moment }),
        Case("(key eq cast(0f8fad5b-d9cb-469f-a165-70867728950e,Edm.Guid))", #Predicate { $0.key == key }),
    ]

    private static let arithmetic: [Case] = [
        Case("((age add 2) eq 20)", #Predicate { $0.age + 2 == 20 }),
        Case("((age sub 1) gt (age mul 2))", #Predicate { $0.age - 1 > $0.age * 2 }),
        Case("((age div 5) eq 3)", #Predicate { $0.age / 5 == 3 }),
        Case("((age mod 5) eq 0)", #Predicate { $0.age % 5 == 0 }),
        Case("(-(age) gt 0)", #Predicate { -$0.age > 0 }),
        Case("((weight div 2.0) eq 3.5)", #Predicate { $0.weight / 2 == 3.5 }),
        Case("(((weight mul 1.0) div weight) eq 1.0)", #Predicate { $0.weight / $0.weight == 1 }),
    ]

    private static let texts: [Case] = [
        Case("contains(name,'da')", #Predicate { $0.name.contains("da") }),
        Case("startswith(name,'Ada')", #Predicate { $0.name.starts(with: "Ada") }),
        Case("(length(name) gt 3)", #Predicate { $0.name.count > 3 }),
        Case("not((length(name) eq 0))", #Predicate { !$0.name.isEmpty }),
        Case("name in ('Ada','Bob''s 100%')", #Predicate { names.contains($0.name) }),
        Case("age in (1,7,18)", #Predicate { [1, 7, 18].contains($0.age) }),
        Case("not(age in (7))", #Predicate { ![7].contains($0.age) }),
        Case("false", #Predicate { none.contains($0.age) }),
        Case("((age ge 7) and (age lt 36))", #Predicate { ages.contains($0.age) }),
        Case("((age ge 7) and (age le 18))", #Predicate { (7...18).contains($0.age) }),
        Case("((weight ge 3.0) and (weight lt 7.5))", #Predicate { (3..<7.5).contains($0.weight) }),
    ]

    private static let optionals: [Case] = [
        Case("(nickName eq null)", #Predicate { $0.nick == nil }),
        Case("(nickName ne null)", #Predicate { $0.nick != nil }),
        Case("(nickName eq 'ada')", #Predicate { $0.nick == "ada" }),
        Case("(nickName ne 'ada')", #Predicate { $0.nick != "ada" }),
        Case("(agreed eq true)", #Predicate { $0.agreed == true }),
        Case("(agreed eq true)", #Predicate { $0.agreed ?? false }),
        Case("(agreed ne false)", #Predicate { $0.agreed ?? true }),
        Case("not((agreed eq true))", #Predicate { !($0.agreed ?? false) }),
        Case("(length(nickName) eq 3)", #Predicate { $0.nick?.count == 3 }),
        Case(
            "(((score eq null) and (5 gt 2)) or (not((score eq null)) and (score gt 2)))",
            #Predicate { ($0.score ?? 5) > 2 }),
        Case(
            "(((nickName eq null) and (name eq 'Ada')) or (not((nickName eq null)) and (nickName eq 'Ada')))",
            #Predicate { ($0.nick ?? $0.name) == "Ada" }),
        Case(
            "(not((nickName eq null)) and contains(nickName,'d'))", #Predicate { $0.nick?.contains("d") ?? false }),
        Case("((score eq null) or (score gt 2))", #Predicate { $0.score.flatMap { $0 > 2 } ?? true }),
    ]

    @Test(
        "a predicate becomes the query that finds the records which Swift finds",
        arguments: comparisons + arithmetic + texts + optionals)
    func translated(_ item: Case) throws {
        let filter = try QueryExpression(item.predicate)
        #expect(filter.odata(.v4) == item.odata)
        let evaluator = try TableQuery.Evaluator(TableQuery("people", filter: filter), schema: nil)
        for person in Person.all {
            #expect(evaluator.matches(person.json) == (try item.predicate.evaluate(person)), "\(person.id)")
        }
        #expect(try QueryExpression(odata: filter.odata(.v4)).odata(.v4) == filter.odata(.v4))
    }

    @Test("what is optional and a condition keeps Swift's meaning of nil")
    func optionalConditions() throws {
        let predicates: [Predicate<Person>] = [
            #Predicate { $0.score.flatMap { $0 > 2 } == true }, #Predicate { $0.score.flatMap { $0 > 2 } == false },
            #Predicate { $0.score.flatMap { $0 > 2 } == nil }, #Predicate { $0.score.flatMap { $0 > 2 } != nil },
            #Predicate { $0.score.flatMap { $0 > 2 } != true }, #Predicate { $0.nick?.contains("d") != true },
            #Predicate { $0.nick?.contains("d") == false }, #Predicate { !($0.nick?.contains("d") ?? true) },
            #Predicate { ($0.nick ?? $0.name).isEmpty == false || ($0.score ?? $0.age) == 18 },
        ]
        for predicate in predicates.dropLast() {
            let evaluator = try TableQuery.Evaluator(
                TableQuery("people", filter: QueryExpression(predicate)), schema: nil)
            for person in Person.all {
                #expect(evaluator.matches(person.json) == (try predicate.evaluate(person)), "\(predicate) \(person.id)")
            }
        }
        #expect(throws: SluiceError.self) { try QueryExpression(predicates.last!) }
    }

    @Test("a force unwrap of what is null matches nothing")
    func forceUnwrap() throws {
        let filter = try QueryExpression(#Predicate<Person> { $0.score! > 2 })
        #expect(filter.odata(.v4) == "(score gt 2)")
    }

    private static let refusals: [(Predicate<Person>, String)] = [
        (#Predicate { $0.secret == "x" }, "Person.columns states no column for \\Person.secret"),
        (#Predicate { $0.address.street == "x" }, "Person.columns states no column for \\Person.address.street"),
        (#Predicate { ($0.done ? 1 : 2) == $0.age }, "a choice (?: or if)"),
        (#Predicate { $0.tags.contains { $0 == "a" } }, "contains(where:)"),
        (#Predicate { $0.tags.allSatisfy { $0 == "a" } }, "allSatisfy(_:)"),
        (#Predicate { $0.tags.count == 1 }, "a computed property of Array<String>"),
        (#Predicate { $0.tags[0] == "a" }, "an element of a collection"),
        (#Predicate { ($0.score ?? 1) + 1 == 2 }, "a ?? that is not beside a comparison or a condition itself"),
        (#Predicate { ($0.age as Any) is Int }, "is"),
    ]

    @Test("what a query cannot say is refused by its name", arguments: 0..<refusals.count)
    func refused(_ index: Int) throws {
        let (predicate, reason) = Self.refusals[index]
        let error = #expect(throws: SluiceError.self) { try QueryExpression(predicate) }
        #expect(error?.code == .invalidQuery)
        #expect(error?.message.hasSuffix(reason) == true, "\(String(describing: error))")
    }

    @Test("queries are made of predicates and key paths together")
    func queries() throws {
        let query = try TableQuery("people", where: #Predicate<Person> { $0.age > 17 })
            .where(#Predicate<Person> { $0.nick != nil })
            .where(column("city") != "Bonn")
            .sorted(by: \Person.address.city, descending: true).sorted(by: \Person.name)
            .selecting(\Person.id, \Person.nick)
        #expect(query.filter?.odata(.v4) == "(((age gt 17) and (nickName ne null)) and (city ne 'Bonn'))")
        #expect(query.table == "people")
        #expect(try TableQuery(Person.self, where: #Predicate { $0.age > 17 }).filter?.odata(.v4) == "(age gt 17)")
        #expect(try TableQuery(Person.self) == TableQuery("people"))
        #expect(query.odataOrder == "city desc,name")
        #expect(query.odataSelect == "id,nickName")
        #expect(throws: SluiceError.self) { try query.sorted(by: \Person.secret) }
        let error = #expect(throws: SluiceError.self) { try query.selecting(\Person.address) }
        #expect(error?.message == "Person.columns states no column for \\Person.address")
    }
}
