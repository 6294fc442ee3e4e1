import SluiceCore
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Mailbox: where events wait")
struct MailboxTests {
    @Test("a wait that was cancelled ends that wait alone")
    func cancelled() async {
        let mailbox = Mailbox(Newest<Int>(4))
        for round in 0..<100 {
            let waiting = Task { await mailbox.next() }
            if round % 2 == 0 { await Task.yield() }
            waiting.cancel()
            #expect(await waiting.value == nil)
            mailbox.send(round)
            #expect(await mailbox.next() == round)
        }
    }

    @Test("what is sent while somebody waits wakes them, and nothing is lost")
    func waking() async {
        let mailbox = Mailbox(Newest<Int>(10_000))
        let reader = Task {
            var sum = 0
            for _ in 0..<1000 { sum += await mailbox.next() ?? 0 }
            return sum
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 { group.addTask { mailbox.send(number) } }
        }
        #expect(await reader.value == 499_500)
    }

    @Test("beyond its limit the oldest are left out")
    func newest() {
        let mailbox = Mailbox(Newest<Int>(3))
        for number in 0..<10 { mailbox.send(number) }
        #expect([mailbox.poll(), mailbox.poll(), mailbox.poll(), mailbox.poll()] == [7, 8, 9, nil])
    }
}
