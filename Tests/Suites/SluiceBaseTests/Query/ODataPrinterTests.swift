import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Printing OData") struct ODataPrinterTests {
    /// What the clients of each generation send for the same filter.
    @Test(
        "the text has the form that the servers' own clients use",
        arguments: [
            ("Complete eq true", "(Complete eq true)", nil),
            ("1 eq 1", "(1 eq 1)", nil),
            ("Count lt -25", "(Count lt -25)", nil),
            ("Count eq 0 and not(Price gt 600)", "((Count eq 0) and not((Price gt 600)))", nil),
            ("Price sub 1.99 le Cost", "((Price sub 1.99) le Cost)", nil),
            ("ceiling(Price) eq 3", "(ceiling(Price) eq 3)", nil),
            ("tolower(name) eq tolower('bob')", "(tolower(name) eq tolower('bob'))", nil),
            ("endswith(name, 'b')", "endswith(name,'b')", nil),
            ("Zip in (1,2,3)", "(((Zip eq 1) or (Zip eq 2)) or (Zip eq 3))", "Zip in (1,2,3)"),
            ("a or b in (1)", "(a or (b eq 1))", "(a or b in (1))"),
            ("(a in (1)) in (true) ne b", "(((a eq 1) eq true) ne b)", "(((a in (1)) in (true)) ne b)"),
            ("a eq (b in (1))", "(a eq (b eq 1))", "(a eq (b in (1)))"),
            ("true or not false", "((1 eq 1) or not(1 eq 0))", "(true or not(false))"),
            ("done eq true", "(done eq true)", nil),
            ("d lt 1977-05-04", "(d lt datetime'1977-05-04T00:00:00.000Z')", "(d lt cast(1977-05-04,Edm.Date))"),
            ("t ge 18:33:45.876", "(t ge time'PT18H33M45.876S')", "(t ge cast(18:33:45.876,Edm.TimeOfDay))"),
            ("t lt 20:35", "(t lt time'PT20H35M00S')", "(t lt cast(20:35:00,Edm.TimeOfDay))"),
            (
                "g eq 0f8fad5b-d9cb-469f-a165-70867728950e", "(g eq guid'0f8fad5b-d9cb-469f-a165-70867728950e')",
                "(g eq cast(0f8fad5b-d9cb-469f-a165-70867728950e,Edm.Guid))"
            ),
            (
                "geo.distance(place, geography'POINT(-122.13 47)') le 500.5",
                "(geo.distance(place,geography'POINT(-122.13 47)') le 500.5)", nil
            ),
            ("contains(name,'b')", "substringof('b',name)", "contains(name,'b')"),
            ("UnsignedId eq 12345678901", "(UnsignedId eq 12345678901L)", "(UnsignedId eq 12345678901)"),
            ("x eq 12345678901234567.89", "(x eq 12345678901234567.89M)", "(x eq 12345678901234567.89)"),
            ("Price eq 1.10", "(Price eq 1.10M)", "(Price eq 1.10)"),
            ("Weight mul 2.0 div 3.0 add 1.0 eq 10.0", "((((Weight mul 2.0) div 3.0) add 1.0) eq 10.0)", nil),
            ("substring(Name,2,3) eq 'A'", "(substring(Name,2,3) eq 'A')", nil),
            ("not(InStock) or InStock", "(not(InStock) or InStock)", nil),
            ("stringValue eq null", "(stringValue eq null)", nil),
            ("title eq 'it''s'", "(title eq 'it''s')", nil),
            (
                "d eq 2013-01-01T00:00:00Z", "(d eq datetimeoffset'2013-01-01T00:00:00.000Z')",
                "(d eq cast(2013-01-01T00:00:00.000Z,Edm.DateTimeOffset))"
            ),
            (
                "d eq 1977-05-04T18:30:45.1070001Z", "(d eq datetimeoffset'1977-05-04T18:30:45.1070001Z')",
                "(d eq cast(1977-05-04T18:30:45.1070001Z,Edm.DateTimeOffset))"
            ),
        ])
    func form(_ text: String, _ expected3: String, _ expected4: String?) throws {
        let expression = try QueryExpression(odata: text)
        #expect(expression.odata(.v3) == expected3)
        #expect(expression.odata(.v4) == expected4 ?? expected3)
    }

    @Test("a name cannot change what a query means")
    func names() throws {
        let expression = QueryExpression.binary(.eq, .column("a eq 1 or b"), .column("not"))
        #expect(expression.odata(.v4) == "(a_x0020_eq_x0020_1_x0020_or_x0020_b eq _x006E_ot)")
        #expect(try QueryExpression(odata: expression.odata(.v4)) == expression)
    }

    @Test("what is printed reads back as the same tree", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var generator = QueryGenerator(seed: seed)
        let expression = generator.condition(5)
        for style in [ODataOptions.Style.v3, .v4] {
            let read = try QueryExpression(odata: expression.odata(style), maximumLength: .max)
            let expected = style == .v3 ? expression.asReadFromV3 : expression
            #expect(read == expected)
            // 2 and 2.0 are equal, but divide differently.
            #expect(String(describing: read) == String(describing: expected))
        }
    }
}

extension QueryExpression {
    /// The tree with what v3 has instead of what it lacks: `or` for `in`, a comparison for a condition that is a
    /// constant, and a point in time for a day.
    fileprivate var asReadFromV3: QueryExpression {
        func logical(_ expression: QueryExpression) -> QueryExpression {
            guard case .literal(.bool(let value)) = expression else { return expression.withoutV4 }
            let one = QueryExpression.literal(.number(JSON.Number(1)))
            return .binary(.eq, one, value ? one : .literal(.number(JSON.Number(0))))
        }
        return logical(self)
    }

    private var withoutV4: QueryExpression {
        switch self {
        case .literal(.day(let day)): return .literal(.date(day))
        case .literal, .column: return self
        case .unary(.not, let operand): return .unary(.not, operand.asReadFromV3)
        case .unary(let operation, let operand): return .unary(operation, operand.withoutV4)
        case .binary(let operation, let left, let right) where operation == .and || operation == .or:
            return .binary(operation, left.asReadFromV3, right.asReadFromV3)
        case .binary(let operation, let left, let right): return .binary(operation, left.withoutV4, right.withoutV4)
        case .call(let function, let arguments): return .call(function, arguments.map(\.withoutV4))
        case .membership(let operand, let literals):
            let terms = literals.map {
                QueryExpression.binary(.eq, operand.withoutV4, QueryExpression.literal($0).withoutV4)
            }
            return terms.dropFirst().reduce(terms[0]) { .binary(.or, $0, $1) }
        default: return mappingChildren(\.withoutV4)
        }
    }
}
