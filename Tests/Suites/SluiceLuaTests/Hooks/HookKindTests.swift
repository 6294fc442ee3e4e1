import SluiceCore
import SluiceLua
import Testing

@Suite("The table of hooks")
struct HookKindTests {
    @Test("a hook that may not wait has no time on the wall, and one that may has", arguments: HookKind.allCases)
    func waits(kind: HookKind) {
        #expect((kind.budget.wall != nil) == kind.mayWait)
    }

    @Test("the default error policy is one that may be said", arguments: HookKind.allCases)
    func errorPolicy(kind: HookKind) {
        #expect(kind.errorPolicies.contains(kind.errorPolicy))
    }

    @Test("no failure takes a decision on an operation unless the deployment says so")
    func nothingIsLost() {
        #expect(HookKind.onConflict.errorPolicy == .hold && HookKind.onPushError.errorPolicy == .hold)
        #expect(HookKind.onPushError.errorPolicies == [.hold, .next])
        for kind in [HookKind.filter, .request, .beforeEnqueue, .beforePush, .afterPull, .afterPullPage] {
            #expect(kind.errorPolicy == .failClosed)
        }
    }

    @Test("every hook but init stands in one chain", arguments: HookKind.allCases)
    func chains(kind: HookKind) {
        #expect(HookChain.allCases.filter { $0.hooks.contains(kind) }.count == (kind == .initialize ? 0 : 1))
    }

    @Test("only what an answer is asked about knows a status", arguments: HookKind.allCases)
    func conditions(kind: HookKind) {
        #expect(kind.conditions.contains(.status) == [.response, .onConflict, .onPushError].contains(kind))
    }

    @Test("the fuel of a page grows with its records, up to a bound")
    func fuelOfPages() {
        let page = HookKind.afterPullPage.budget
        #expect(page.fuel(forRecords: 0) == 50_000 && page.fuel(forRecords: 100) == 5_000_000)
        #expect(page.fuel(forRecords: 1_000) == 20_000_000 && page.fuel(forRecords: .max) == 20_000_000)
    }
}
