import SluiceCore
import Testing

@Suite("Numbers from outside")
struct CheckedNumbersTests {
    static let impossible = [Double.nan, .infinity, -.infinity, 1e300, -1e300, 9.3e18, -9.3e18]

    @Test("what 64 bits do not hold is nil, and ends no process", arguments: impossible)
    func tooLarge(number: Double) {
        #expect(Int64(nearest: number) == nil)
        #expect(Duration.checked(seconds: number) == nil)
        #expect(Timestamp(secondsSince1970: number) == nil)
    }

    @Test("the nearest whole number, nanosecond and tick")
    func nearest() {
        #expect(Int64(nearest: 2.5) == 3 && Int64(nearest: -0.4) == 0 && Int64(nearest: -0x1p63) == .min)
        #expect(Duration.checked(seconds: 1.5) == .milliseconds(1500))
        #expect(Duration.checked(seconds: -1e-9) == .nanoseconds(-1))
        #expect(Timestamp(secondsSince1970: 0.25)?.ticks == 2_500_000)
    }

    @Test("a time outside of the years 1 to 9999 is none", arguments: [9.5e11, -9.5e11, 2.6e11, -6.3e10])
    func years(seconds: Double) {
        #expect(Timestamp(secondsSince1970: seconds) == nil)
        #expect(Duration.checked(seconds: 2.6e11) == nil)
    }

    @Test("a duration beyond 292 years is as many nanoseconds as there are")
    func nanoseconds() {
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect((Duration.seconds(2) + .nanoseconds(5)).wholeNanoseconds == 2_000_000_005)
    }
}
