import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

@testable import SluiceLua

@Suite("The order of a chain")
struct ChainOrderTests {
    private func place(
        _ name: String, _ band: FilterBand = .default, before: [String] = [], after: [String] = [], priority: Int = 0,
        match: Match = .all
    ) -> Placed<String> {
        Placed(
            name, placement: Placement(name, band: band, before: before, after: after, priority: priority),
            specificity: match.specificity)
    }

    private func names(_ links: [Placed<String>], known: Set<String> = []) throws -> [String] {
        try ChainOrder.resolve(links, known: known).map(\.name)
    }

    private func refusal(_ links: [Placed<String>]) -> String? {
        #expect(throws: SluiceError.self) { try ChainOrder.resolve(links) }?.message
    }

    @Test("bands go first, then the higher priority, then the name by its bytes")
    func ranks() throws {
        let links = [
            place("b"), place("z", priority: 2), place("é"), place("a"), place("Z"), place("o", .observe, priority: 9),
            place("l", .late), place("e", .early, priority: -1), place("t", .auth),
        ]
        #expect(try names(links) == ["t", "e", "z", "Z", "a", "b", "é", "l", "o"])
    }

    @Test("before and after go over priority and name")
    func constraints() throws {
        let links = [
            place("a", after: ["c"], priority: 100), place("b"), place("c", priority: -100), place("d", before: ["b"]),
        ]
        #expect(try names(links) == ["d", "b", "c", "a"])
    }

    @Test("the order depends on what the links say, not on the order in which they were given", arguments: 1...20)
    func deterministic(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var links: [Placed<String>] = []
        for index in 0..<30 {
            let before = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                "n\(Int.random(in: index + 1...31, using: &random))"
            }
            let band = index < 10 ? FilterBand.auth : index < 20 ? .default : .late
            links.append(place("n\(index)", band, before: before, priority: .random(in: -2...2, using: &random)))
        }
        links += [place("n30", .late), place("n31", .late)]
        let order = try names(links)
        for _ in 0..<5 {
            links.shuffle(using: &random)
            #expect(try names(links) == order)
        }
        for link in links {
            for other in link.placement.before {
                #expect(try #require(order.firstIndex(of: link.link)) < #require(order.firstIndex(of: other)))
            }
        }
    }

    @Test("each link says why it stands where it does")
    func reasons() throws {
        let order = try ChainOrder.resolve([
            place("tenant", .early), place("trace", .early, after: ["tenant"]), place("a", before: ["z"], priority: 3),
            place("b"), place("c"), place("z", priority: 5),
        ])
        #expect(
            order.map { "\($0.name): \($0.why)" } == [
                "tenant: band early",
                "trace: band early; after tenant",
                "a: band default; before z; priority 3, b has 0",
                "z: band default; after a, which says so; priority 5, b has 0",
                "b: band default; name before c",
                "c: band default",
            ])
    }

    @Test("where links tell it, the narrower match goes before the higher priority")
    func narrowest() throws {
        let links = [
            place("all", priority: 9), place("some", match: try Match(tables: ["todo*"])),
            place("one", match: try Match(tables: ["todo"])),
            place("two", match: try Match(tables: ["todo"], status: ["412"])), place("first", .early),
        ]
        let order = try ChainOrder.resolve(links)
        #expect(order.map(\.name) == ["first", "two", "one", "some", "all"])
        #expect(order[1].why == "band default; narrower match than one")
    }

    @Test("a circle is spelt out, with who says what")
    func circle() {
        #expect(
            refusal([
                place("a", after: ["c"]), place("b", after: ["a"]), place("c", after: ["b"]), place("d", after: ["c"]),
            ])
                == "the order is a circle: a → b → c → a: b wants to stand after a, c wants to stand after b, "
                + "a wants to stand after c")
        #expect(refusal([place("a", before: ["a"])])?.contains("circle: a → a") == true)
        #expect(refusal([place("a", before: ["b"]), place("b", before: ["a"])])?.contains("a → b → a") == true)
    }

    @Test("a name that is not there is refused with the nearest one, unless it is known to be away")
    func unknown() throws {
        #expect(
            refusal([place("tenant"), place("trace", after: ["tenent"])])
                == "trace wants to stand after tenent, and there is no such link; did you mean tenant?")
        #expect(try names([place("trace", after: ["tenent"])], known: ["tenent"]) == ["trace"])
    }

    @Test("against the order of the bands nothing can stand, and along it everything does")
    func bands() throws {
        #expect(
            refusal([place("late", .late, before: ["early"]), place("early", .early)])
                == "late wants to stand before early, but the band late is after the band early")
        #expect(try names([place("late", .late, after: ["early"]), place("early", .early)]) == ["early", "late"])
    }

    @Test("two links of one name are refused")
    func twice() { #expect(refusal([place("a"), place("a", .late)]) == "two links are called a") }

    @Test("ten thousand links are put in order quickly, in one line or in none")
    func many() throws {
        let line = (0..<10_000).map { place("n\($0)", after: $0 == 0 ? [] : ["n\($0 - 1)"]) }
        let time = try processorTime {
            let (straight, loose) = (
                try names(line.reversed()), try names((0..<10_000).map { place("n\($0)", priority: $0 % 7) })
            )
            #expect(straight == line.map(\.link) && loose.count == 10_000)
        }
        #expect(time < .seconds(20))
    }
}
