extension ProbeFinding.Code {
    /// The texts of findings about values, repeats and batches.
    var keeping: ProbeFinding.Advice {
        switch self {
        case .scratchLeft:
            .fault(
                "rows of the probe are in the scratch table", "delete the rows named here",
                "names its rows so that they can be found")
        case .textsAltered:
            .fault(
                "what a person wrote is changed", "store texts as they come, in UTF-8 with four bytes a character",
                "keeps the server's text, which differs from what was sent")
        case .numbersRounded:
            .fault(
                "large or fine numbers change on their way", "store 64-bit integers and doubles exactly",
                "sends and stores all digits, and keeps the server's value")
        case .numbersAsTexts:
            .warning(
                "filters and columns of numbers do not match", "store numbers as numbers",
                "keeps the value as a text, and takes it for the same in an answer")
        case .nullIgnored:
            .fault("a value cannot be cleared", "store null for a property that is null", "keeps the server's value")
        case .datesAltered:
            .fault(
                "times shift or lose digits", "store times with milliseconds, in UTC", "keeps the server's value")
        case .halfEmojiKept:
            .warning(
                "one client's broken text is a row that others cannot read, and may fail whole lists",
                "refuse texts that are no Unicode, or replace the half", "quarantines such rows")
        case .repeatTwice:
            .fault(
                "a lost answer makes a second row", "answer a repeated request id with the first answer",
                "leave odata: remembers-requests at false")
        case .batchRefused:
            .warning(
                "each push tries a batch in vain", "take batches, or do not announce them",
                "sends the changes one by one from then on; batch: 1 saves the try")
        case .batchBroken:
            .fault(
                "changes of a batch stay uncertain", "answer each part of a batch, in its order or with its id",
                "looks for each change with the next push; batch: 1 avoids it")
        case .batchNotAtomic:
            .fault(
                "a half of what belongs together is stored", "run an atomicity group in one transaction",
                "cannot undo the half; use no groups with this server")
        default: .warning("", "", "")
        }
    }
}
