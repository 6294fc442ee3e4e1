import SluiceCore
import SluiceTestSupport
import SluiceTesting
import Testing

/// The snippets of docs/hooks.md, run.
@Suite("The page about hooks")
struct HooksDocumentTests {
    @Test("every line of its Swift is compiled here")
    func compiled() throws {
        #expect(try DocumentedSwift.notCompiled(of: "hooks.md", in: #filePath) == [])
    }

    @Test("a hook that needs a title")
    func titleNeeded() async throws {
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: ModelServer())
        let store = MemoryStore()

        struct TitleNeeded: SyncHook {
            let hookName = "title-needed"

            func wants(_ point: HookPoint, table: String) -> Bool { point == .beforeEnqueue && table == "todos" }

            func beforeEnqueue(_ change: EnqueuedChange) async throws -> EnqueueDecision {
                guard var record = change.record, change.kind != .undelete else { return .accept }
                guard let title = record["title"]?.string, !title.isEmpty else {
                    return .reject(EnqueueDecision.Refusal("a todo has a title", fields: ["title": "is missing"]))
                }
                record["length"] = JSON(title.count)
                return .change(record)
            }
        }

        var options = SyncOptions()
        options.hooks = [TitleNeeded()]
        let context = try await SyncContext(client: client, store: store, options: options)
        do {
            try await context.table("todos").insert(["title": ""])
        } catch let error as SluiceError where error.code == .refusedByHook {
            for (field, problem) in error.refusal?.fields ?? [:] { print(field, problem) }
        }
        #expect(try await context.table("todos").count() == 0)
        #expect(try await context.table("todos").insert(["title": "milk"])["length"] == 4)
    }

    @Test("a hook that drops drafts")
    func withoutDrafts() async throws {
        struct WithoutDrafts: SyncHook {
            let hookName = "without-drafts"

            func wants(_ point: HookPoint, table: String) -> Bool { point == .afterPull && table == "todos" }

            func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
                page.rows.map { row in
                    if row["draft"] == true { return .drop(reason: "a draft") }
                    return .set(["title": JSON(row["title"]?.string?.uppercased() ?? "")])
                }
            }
        }

        let server = ModelServer()
        server.seed("todos", [["id": "1", "title": "milk"], ["id": "2", "draft": true]])
        let client = SluiceClient(endpoint: try Endpoint("http://model.test"), transport: server)
        var options = SyncOptions()
        options.hooks = [WithoutDrafts()]
        let context = try await SyncContext(client: client, store: MemoryStore(), options: options)
        let result = try await context.pull(TableQuery("todos"), named: "all")
        #expect(result.stored == 1 && result.dropped == 1)
        #expect(try await context.table("todos").records().map { $0["title"] } == ["MILK"])
    }

    @Test("a schedule hook that lets the night be")
    func notAtNight() async throws {
        struct NotAtNight: ScheduleHook {
            let hookName = "not-at-night"

            func onSchedule(_ question: ScheduleQuestion) async throws -> ScheduleDecision? {
                let hour = question.now.ticks / Timestamp.ticksPerSecond / 3600 % 24
                return hour < 5 ? .wait(until: question.now.advanced(by: .seconds(1800))) : nil
            }
        }

        var options = SyncOptions()
        options.scheduleHooks = [NotAtNight()]
        #expect(options.scheduleHooks.map(\.hookName) == ["not-at-night"])
    }
}
