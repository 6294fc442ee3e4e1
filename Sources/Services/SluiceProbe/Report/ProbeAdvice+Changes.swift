extension ProbeFinding.Code {
    /// The texts of findings about changes; nil for others.
    var changing: ProbeFinding.Advice? {
        switch self {
        case .insertRefused:
            .fault("no row can be made", "see the reason; the scratch table must take a row of its columns", "parks it")
        case .insertOverwrites:
            .fault(
                "two devices with one id overwrite each other, and a repeat undoes later changes",
                "answer 409 to an insert whose id is there", "cannot notice it")
        case .insertMisjudged:
            .warning(
                "an insert whose answer was lost is held for a person", "answer 409 to an insert whose id is there",
                "cannot tell the repeat from a refusal")
        case .idReplaced:
            .fault(
                "the row is on this device twice", "keep the id that the client sends",
                "takes the answer for another record, and holds the change")
        case .conflictBare:
            .warning(
                "one more request for each conflict", "put the server's record into the body of 409",
                "reads the record by its id")
        case .readsLag:
            .warning(
                "a pull after a push may bring the old row",
                "read from the primary after a write, or wait for the replica",
                "does not write a version that its own push replaced within 30 s")
        case .updateRefused:
            .fault("no row can be changed", "see the reason", "parks the change")
        case .updateIgnored:
            .fault(
                "changes are lost while the server says that they are done",
                "answer an error where nothing was written", "compares the answer with what it sent")
        case .updateReplaces:
            .fault(
                "properties that a change does not name are lost", "merge the body of PATCH into the row",
                "set odata: update: put, or send whole rows")
        case .versionUnchanged:
            .fault(
                "later changes overwrite this one unseen", "give each write a new version",
                "compares contents as well, where it has both")
        case .timeUnchanged:
            .fault(
                "no pull brings the change", "set the time of change with each write",
                "finds it by sluice reconcile alone")
        case .answersNothing:
            .warning(
                "one more request for each change", "answer a change with the record", "reads the row by its id")
        case .answersOther:
            .fault(
                "whether a change was made is not known", "answer a change with the record, or with an error",
                "holds the change as uncertain, and looks for it with the next push")
        case .conditionIgnored:
            .fault(
                "changes of two devices overwrite each other unseen", "compare If-Match in the statement that writes",
                "cannot notice it")
        case .conditionMisjudged:
            .warning(
                "a conflict looks like another failure", "answer 412 to a condition that does not hold",
                "holds the change for a person in place of its conflict handler")
        case .preconditionBare:
            .warning(
                "one more request for each conflict", "put the server's record into the body of 412",
                "reads the record by its id")
        case .deleteRefused: .fault("no row can be deleted", "see the reason", "parks the delete")
        case .deleteIgnored:
            .fault(
                "the row comes back with a later pull", "answer an error where nothing was deleted",
                "sees the row again with the next pull")
        case .deleteConditionIgnored:
            .fault(
                "a delete takes another device's change away unseen", "compare If-Match for DELETE as well",
                "cannot notice it")
        case .deleteUntraced:
            .warning(
                "no pull hears of a delete", "mark rows as deleted in place of removing them (soft delete)",
                "finds them by sluice reconcile alone")
        case .deleteTimeUnchanged:
            .fault(
                "no pull hears of the delete", "set the time of change with the delete",
                "finds it by sluice reconcile alone")
        case .undeleteRefused:
            .warning(
                "sluice undelete fails", "accept the wire's undelete, or make such rows anew", "parks the undelete")
        default: nil
        }
    }
}
