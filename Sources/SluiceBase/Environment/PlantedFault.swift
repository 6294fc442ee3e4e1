#if PlantedFaults
    internal import Synchronization
#endif

/// Deliberate faults of the engine, each at the place where a programmer might make it. They are compiled in only under
/// the trait `PlantedFaults`, one at a time is turned on, and a simulation has to find each of them.
package enum PlantedFault: String, Sendable, CaseIterable {
    // Local changes and the queue.
    case rowWithoutOperation, operationWithoutRow, baseForgotten, revisionNotCounted
    case sentInsertVanishes, parkedLetsSuccessorsPass, retryForgetsWhatWasSent
    case discardLeavesRow, discardWithoutAudit, purgeWithoutAudit, purgeKeepsCursor, deleteForgetsSends
    case discardForgetsSends, discardMovesBase, noSuccessor
    // Push.
    case sealSkipped, requestIDPerAttempt, bodyMadeAnew, conditionMissing, conditionOfMirror
    case resultOverNewerEdit, queueRemovedBeforeRow, successorBaseStays, evidenceSkipped, uncertaintyForgotten
    case notFoundIsDone, refusalIsDone, failureIsDone, answerWithoutRecordIsDone, inFlightNeverRepeated
    case tombstoneIsDone, rebaseTakesLocal, groupInParts, batchesRefusedForGood, dependencyIgnored
    case newRecordAbsorbsDelete, unmovedIsDone, anyAnswerDeletes
    // Conflicts.
    case decisionDropsLaterEdits, decisionKeepsOldBase, decisionWithoutAudit
    // Pull.
    case cursorGreater, cursorBeforeRows, cursorRoundedUp, commitLagIgnored, unknownClockTrusted, groupReadOnce,
        shortPageIsLast
    case mirrorNotMoved, mirrorMovesBase, pageOverwritesPending, tombstoneIgnored, tombstoneStored
    case cursorsShared, tokenNotKept, membershipIgnored
    case clockStepIgnored, dateTrusted, passBelieved, usersShareRows, operationsOfAnyUser,
        listTakesVersion
    // Status.
    case statusHidesHeld
    // Errors.
    case credentialsTold
}

#if PlantedFaults
    private let active = Mutex<PlantedFault?>(nil)

    /// Turns a fault on, and every other off.
    package func plant(_ fault: PlantedFault?) { active.withLock { $0 = fault } }

    /// Whether that fault is on.
    package func planted(_ fault: PlantedFault) -> Bool { active.withLock { $0 == fault } }
#else
    /// Whether that fault is on: never, in a build that has none.
    @inline(__always) package func planted(_ fault: PlantedFault) -> Bool { false }
#endif
