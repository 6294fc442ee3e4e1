extension ProbeFinding.Code {
    /// The texts of findings about answers, rows and ids; nil for others.
    var reading: ProbeFinding.Advice? {
        switch self {
        case .webPage:
            .fault(
                "nothing can be read", "check the address, and let this client past the login page or proxy",
                "ends each sync with this reason, and keeps the queue")
        case .redirects:
            .fault(
                "nothing can be read", "serve the tables at the address itself, or give the new one as endpoint",
                "follows no redirect, because it could lead credentials to another server")
        case .brokenAnswers:
            .fault(
                "nothing can be read", "answer lists with whole JSON; see what a proxy does to long answers",
                "ends the pull with brokenProtocol, and stores nothing of such an answer")
        case .failing:
            .fault(
                "nothing can be read while it lasts", "see the server's log",
                "tries again later; changes wait in the queue"
            )
        case .errorBesideRows:
            .fault(
                "a part of the rows looks like all of them", "answer a read that failed with a status of 500 or more",
                "takes the answer for an error, and never for a page")
        case .metadataUnread:
            .fault(
                "keys and types of the sets are not known", "serve $metadata to this user",
                "needs the key of each set in the settings: tables: SET: odata: key")
        case .credentialsEchoed:
            .fault(
                "tokens get into the logs of whoever prints the server's messages",
                "never repeat a header field of the request in an answer",
                "removes its credentials from each error and log line")
        case .slow:
            .warning(
                "a sync of many pages takes long, and may meet its deadline",
                "look at the indexes of the time of change and the id", "asks for smaller pages after a timeout")
        case .incomplete:
            .warning(
                "the rest was not looked at", "see why it answers so slowly, or needs so many requests",
                "a probe has bounds; raise them with --requests and --time")
        case .rowsUnfit:
            .fault(
                "those rows are on no device", "mend the rows named here: ids are texts, times are times",
                "quarantines them, and brings the others")
        case .rowsRepeated:
            .fault(
                "which of the rows is meant is not known", "make the id unique in the database",
                "keeps one of them, and quarantines two of one version that differ")
        case .rowsMove:
            .fault(
                "nothing is ever up to date, and each change meets a conflict",
                "give a row another version only when it is written",
                "goes on until the rows came twice over, and then ends the pull")
        case .rowsUntimed:
            .warning(
                "one more question with each pull, and these rows come each time",
                "fill the time of change, and have a trigger set it", "reads rows without a time separately")
        case .idsTwins:
            .fault(
                "databases and file systems that fold letters take the two for one row",
                "give one of the two rows another id", "keeps ids apart by their bytes, and so must all others")
        case .idsIntegers:
            .fault(
                "the table cannot be synced offline", "add a text column as the id",
                "uses such tables online only; their rows are quarantined by a pull")
        case .idsFolded:
            .warning(
                "two devices that make ids which differ in letters alone meet a conflict",
                "compare ids by their bytes (a binary collation)", "makes ids of small letters and digits by itself")
        case .namesTwins:
            .warning(
                "databases that fold letters keep one of the two values", "give one of the two properties another name",
                "keeps names apart by their bytes, and so must all others")
        case .versionMissing:
            .warning(
                "changes overwrite each other unseen",
                "give each row a version that every write changes, as a property and as ETag",
                "sends the change without a condition")
        case .lookupMissing:
            .fault(
                "rows that exist count as deleted in a reconcile", "find a row by the id that lists show",
                "asks twice before it removes a row here")
        case .lookupDiffers:
            .fault(
                "a change is made on a version that is not the row's", "serve lists and rows from the same data",
                "takes the refusal for a conflict, and reads the row again")
        case .missingFound:
            .fault(
                "a deleted row seems to live", "answer 404 for an id that is not there",
                "cannot tell, and keeps the row")
        case .missingFails:
            .warning(
                "a deleted row stops its change until somebody looks", "answer 404 for an id that is not there",
                "tries the change again up to limits.attempts")
        default: nil
        }
    }
}
