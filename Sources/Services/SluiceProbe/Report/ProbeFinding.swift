public import SluiceBase
internal import SluiceWire

extension ProbeFinding {
    /// The kinds of faults that a probe names. Codes may be added.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        // Answers at all.
        case webPage, redirects, brokenAnswers, failing, errorBesideRows, metadataUnread, credentialsEchoed, slow
        case incomplete
        // Lists.
        case orderIgnored, topIgnored, skipRefused, skipIgnored, filterRefused, filterIgnored, filterMisses
        case countMissing, countWrong, deletedListed, deletedRefused, idsComparedOtherwise
        // Pages and their links.
        case pagesLimited, pagesFail, pagesOverlap, linksElsewhere, linksCircle, linksLost
        // Rows and ids.
        case rowsUnfit, rowsRepeated, rowsMove, rowsUntimed, idsTwins, idsIntegers, idsFolded, namesTwins
        case versionMissing
        case lookupMissing, lookupDiffers, missingFound, missingFails
        // Times and clocks.
        case tiesUnsorted, tiesShuffled, timesMisread, timesRounded, timesAhead, timesZoneless
        case clockMissing, clockOff, clockSet, clockAhead
        // Tags.
        case tagsWeak, tagsSuffixed, tagsDiffer, tagsList
        // Pulls.
        case pullFails, pullNeverSettles, reconcileDiffers, changesMissed, deletesMissed
        // Changes, on a scratch table.
        case insertRefused, insertOverwrites, insertMisjudged, idReplaced, conflictBare, readsLag
        case updateRefused, updateIgnored, updateReplaces, versionUnchanged, timeUnchanged, answersNothing, answersOther
        case conditionIgnored, conditionMisjudged, preconditionBare
        case deleteRefused, deleteIgnored, deleteConditionIgnored, deleteUntraced, deleteTimeUnchanged, undeleteRefused
        case scratchLeft
        // Values, repeats and batches, on a scratch table.
        case textsAltered, numbersRounded, numbersAsTexts, nullIgnored, datesAltered, halfEmojiKept
        case repeatTwice, batchRefused, batchBroken, batchNotAtomic
    }
}

extension ProbeFinding.Code {
    /// The findings that follow from this one.
    var implied: Set<Self> {
        switch self {
        case .skipIgnored: [.pagesOverlap]
        case .filterIgnored: [.timesRounded, .idsComparedOtherwise]
        default: []
        }
    }

    /// The constant texts of the code.
    var advice: ProbeFinding.Advice { reading ?? listing ?? timing ?? changing ?? keeping }
}

/// One fault of a server, as a probe saw it.
public struct ProbeFinding: Sendable, Hashable, JSONPrinted {
    /// The weight of a fault.
    public enum Grade: String, Sendable, Hashable, Codable, CaseIterable {
        /// Works, and costs requests, rows or care.
        case warning
        /// Can lose or change data, or keeps a table from syncing.
        case fault
    }

    /// The kind of fault.
    public let code: Code
    /// The weight, which follows from the code.
    public let grade: Grade
    /// The observation: one line, without control characters. It may hold ids, tags and messages of the server, cut
    /// where they are long.
    public let seen: String
    /// The price of the fault.
    public let cost: String
    /// The change to make at the server.
    public let server: String
    /// The way in which Sluice deals with it.
    public let sluice: String

    /// The largest length of ``seen``, in scalars.
    private static let longest = 400

    /// Returns the text as one line that is safe to print, cut where it is long.
    static func line(_ text: String) -> String { ServerMessage.shortened(text, to: longest) }

    /// Creates a finding.
    public init(_ code: Code, _ seen: String) {
        let advice = code.advice
        self.code = code
        self.seen = Self.line(seen)
        (grade, cost, server, sluice) = (advice.grade, advice.cost, advice.server, advice.sluice)
    }
}

extension ProbeFinding {
    /// The constant texts of a kind of fault.
    struct Advice {
        let grade: Grade
        let cost: String
        let server: String
        let sluice: String

        static func fault(_ cost: String, _ server: String, _ sluice: String) -> Advice {
            Advice(grade: .fault, cost: cost, server: server, sluice: sluice)
        }

        static func warning(_ cost: String, _ server: String, _ sluice: String) -> Advice {
            Advice(grade: .warning, cost: cost, server: server, sluice: sluice)
        }
    }
}
