import SluiceCore
import Testing

@Suite("Points in time")
struct TimestampTests {
    @Test(
        "a time is read in every form that servers write",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01", 0), ("1970-01-01T00:00Z", 0),
            ("1970-01-01t00:00:01z", 10_000_000),
            ("1970-01-01 00:00:01", 10_000_000), ("1970-01-01T00:00:00.1Z", 1_000_000),
            ("1970-01-01T00:00:00.0000001Z", 1), ("1970-01-01T00:00:00.00000019Z", 1),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T22:30:00.000-01:30", 0),
            ("2000-02-29T12:34:56.789Z", 9_518_276_967_890_000), ("1969-12-31T23:59:59.9999999Z", -1),
        ])
    func forms(_ text: String, _ ticks: Int64) {
        #expect(Timestamp(text)?.ticks == ticks)
    }

    @Test(
        "a text that is no time is none",
        arguments: [
            "", "1970", "1970-13-01", "1970-00-01", "1970-02-30", "1900-02-29", "0000-01-01", "1970-01-01T",
            "1970-01-01T24:00Z",
            "1970-01-01T00:60Z", "1970-01-01T00:00:60Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00ZZ",
            "1970-01-01T00:00:00+19:00", "1970-01-01T00:00:00+0100", "1970-01-01X00:00", "١970-01-01", " 1970-01-01",
        ])
    func refused(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("a time prints as it is read", arguments: ["2013-09-01T12:34:56.7890123Z", "0001-01-01T00:00:00.0000000Z"])
    func printed(_ text: String) {
        #expect(Timestamp(text)?.description == text)
    }
}
