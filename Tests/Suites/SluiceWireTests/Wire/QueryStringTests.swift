import SluiceCore
import Testing

@Suite("The query of a path")
struct QueryStringTests {
    @Test(
        "a path is taken apart and put together as it was",
        arguments: ["/t", "/t?a=b", "/t?a=b&c&$skip=%31&a=%20", "/?%24top=950&%24skip=50", "/t?x=a?b"])
    func roundTrip(path: String) {
        #expect(QueryString(ofPath: path).path == path)
    }

    @Test("a part is found by its decoded name, and setting it keeps the place and removes repetitions")
    func parts() {
        var query = QueryString(ofPath: "/t?a=1&%24skip=%32&b=x%26y&$skip=9&flag")
        #expect(query["$skip"] == "2" && query["b"] == "x&y" && query["flag"] == "" && query["c"] == nil)
        query["$skip"] = "7"
        query["$top"] = "a b"
        #expect(query.path == "/t?a=1&$skip=7&b=x%26y&flag&$top=a%20b")
        query["a"] = nil
        #expect(query.path == "/t?$skip=7&b=x%26y&flag&$top=a%20b")
    }

    @Test("parts that are there already, under whatever escapes, are not added again")
    func missing() {
        var query = QueryString(ofPath: "/t?x%3Dy=1&b=2")
        query.addMissing(["b=%32", "c=3"])
        #expect(query.path == "/t?c=3&x%3Dy=1&b=2")
    }

    @Test(
        "a query is mended, and one that is right stays",
        arguments: [
            ("a=%41&b='(),*$;:@/?!-._~", "a=%41&b='(),*$;:@/?!-._~"), ("a b", "a%20b"), ("%", "%25"), ("%4", "%254"),
            ("%4g", "%254g"), ("é\"<>\\^`{|}", "%C3%A9%22%3C%3E%5C%5E%60%7B%7C%7D"), ("a\r\nb\u{0}", "a%0D%0Ab%00"),
            ("[]", "%5B%5D"),
        ])
    func mended(text: String, expected: String) {
        #expect(PercentEncoding.mended(text) == expected)
        #expect(PercentEncoding.mended(expected) == expected)
    }

    @Test("what a wire keeps in its queries is kept, a space and a plus never")
    func kept() {
        let text = "(a,'b')$*+ :é&=%"
        #expect(PercentEncoding.query(text) == "(a,'b')$*%2B%20%3A%C3%A9%26%3D%25")
        #expect(PercentEncoding.query(text, keeping: "") == "%28a%2C%27b%27%29%24%2A%2B%20%3A%C3%A9%26%3D%25")
    }
}
