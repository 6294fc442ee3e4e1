internal import Sluice
internal import SluiceLua

/// What the story tells of plugins.
extension DemoStory {
    /// Tells what a device's plugins have decided since the last time.
    func tellNotes(_ device: DemoDevice) {
        for line in device.notes.take() { narrator.bad("\(pad(device.name))\(line)") }
    }

    /// Asks the plugins as a scheduler would. The demo pushes in any case.
    func askSchedule(_ device: DemoDevice) async {
        guard plugins?.has(.onSchedule) == true, let hook = device.plugins?.scheduleHook else { return }
        let now = device.context.options.environment.now()
        let pending = (try? await device.waiting()) ?? 0
        let question = ScheduleQuestion(reason: .network, now: now, next: now, pending: pending)
        let text: String
        do {
            text =
                switch try await hook.onSchedule(question) {
                case nil: "leaves it to the schedule"
                case .push?: "says push"
                case .pull?: "says push and pull"
                case .wait(let time)?: "says wait until \(time)"
                }
        } catch {
            text = "failed: \(Plain.line("\(error)"))"
        }
        narrator.detail("\(pad(device.name))on_schedule, asked as by a scheduler, \(text)")
    }

    /// Tells what each hook was asked on both devices, and what it said.
    func tell(_ lines: [DemoPlugins.Line]) {
        narrator.step("The plugins were asked on both devices, and decided:")
        let table = TextTable(
            head: ["plugin", "hook", "asked", "decided"],
            rows: lines.map { line in
                let failures = line.calls.filter { $0.key != "ok" }
                let words = (line.decisions.sorted { $0.key < $1.key } + failures.sorted { $0.key < $1.key }).map {
                    "\($0.key) \(Plain.count($0.value))"
                }
                let none = "nothing: the demo has no such case, or the match does not hold"
                return [
                    line.plugin, line.hook.rawValue, Plain.count(line.asked),
                    line.asked == 0 ? none : words.joined(separator: ", "),
                ]
            })
        for line in table.lines() { narrator.detail(line) }
    }
}
