internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct DoctorCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out what is wrong with store, queue, server and machine, and what to do.",
        discussion: """
            Compares the store with the server, by digests of ranges of ids where the server has them, and changes \
            nothing. Ends with 0 if all is well or there are warnings alone; else as the first fault: 3 no network, 4 not \
            authorised, 5 changes are held or rows differ, 6 store or machine.
            """)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let findings = try await Examination.findings(try ClientSettings(connection))
        let words: [Finding.Grade: String] = [.good: "ok", .warning: "look", .fault: "FAULT"]
        var text: [String] = []
        for finding in findings {
            text.append(Plain.line("\(words[finding.grade] ?? "")  \(finding.subject): \(finding.text)"))
            if let advice = finding.advice { text.append(Plain.line("      → \(advice)")) }
        }
        var outcome = Outcome(json: ["findings": JSON(findings.map(\.json))], text: text)
        for finding in findings where finding.grade == .fault {
            outcome.add(
                CommandFailure(Self.status(finding.area), finding.area.rawValue, "\(finding.subject): \(finding.text)"))
        }
        return outcome
    }

    private static func status(_ area: Finding.Area) -> ExitStatus {
        switch area {
        case .machine, .store: .store
        case .network: .network
        case .access: .unauthorized
        case .queue, .server: .attention
        }
    }
}
