import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Ids of version 7")
struct UUIDv7Tests {
    @Test("ids of one source grow, within a millisecond, over its counter's end and when the clock goes back")
    func order() {
        let source = UUIDv7Source()
        var ids: [String] = []
        for step in 0..<10_000 {
            let back = step > 5000 ? -50_000 : 0
            ids.append(source.next(at: Timestamp(ticks: Int64(17_000_000_000_000_000 + step / 6000 * 10_000 + back))))
        }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == ids.count)
    }

    @Test("the form is that of RFC 9562, with the time in front")
    func form() throws {
        let time = try #require(Timestamp("2024-05-06T07:08:09.123Z"))
        let id = UUIDv7Source().next(at: time)
        let parts = id.split(separator: "-")
        #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
        #expect(parts[2].first == "7" && "89ab".contains(parts[3].first ?? " "))
        #expect(Int64(parts[0] + parts[1], radix: 16) == time.ticks / 10_000)
    }
}
