import SluiceCore
import SluiceTestSupport
import Testing

@Suite("Dates of header fields") struct HTTPDateTests {
    @Test(
        "A time is written in the preferred form, and read from it",
        arguments: [
            ("1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
            ("2024-02-29T12:00:00Z", "Thu, 29 Feb 2024 12:00:00 GMT"),
        ])
    func both(iso: String, field: String) throws {
        let time = try #require(Timestamp(iso))
        #expect(HTTPDate.text(time) == field)
        #expect(HTTPDate.timestamp(field) == time)
    }

    @Test(
        "the obsolete forms are read too",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Friday, 06-Nov-26 08:49:37 GMT", "2026-11-06T08:49:37Z"),
            ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"), ("Wed Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"),
        ])
    func obsolete(field: String, iso: String) {
        #expect(HTTPDate.timestamp(field) == Timestamp(iso))
        #expect(HTTPDate.timestamp(field + " x") == nil && HTTPDate.timestamp(String(field.dropLast())) == nil)
    }

    @Test("a Retry-After that came twice asks for the longer one")
    func twice() {
        let now = Timestamp(ticks: 0)
        #expect(RetryAfter.duration("5, 60", now: now) == .seconds(60))
        #expect(RetryAfter.duration("5, soon", now: now) == nil && RetryAfter.duration("5,", now: now) != .seconds(60))
    }

    @Test("A fraction of a second is cut off, however near the next day is") func cut() throws {
        let time = try #require(Timestamp("2024-03-02T23:59:59.9999999Z"))
        #expect(HTTPDate.text(time) == "Sat, 02 Mar 2024 23:59:59 GMT")
    }
}
