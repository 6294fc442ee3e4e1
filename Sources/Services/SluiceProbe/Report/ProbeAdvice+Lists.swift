extension ProbeFinding.Code {
    /// The texts of findings about lists, pages and tags; nil for others.
    var listing: ProbeFinding.Advice? {
        switch self {
        case .orderIgnored:
            .warning(
                "each pull reads all rows", "sort by $orderby, also by several keys and downwards",
                "finds out and uses the grade full; sluice reconcile removes what vanished")
        case .topIgnored:
            .warning(
                "pages are as large as the table", "give at most $top rows",
                "takes what comes up to limits.answer-bytes")
        case .skipRefused:
            .warning(
                "many rows of one time make each pull read all rows", "accept $skip",
                "pages by time and id where it can; else the grade is full")
        case .skipIgnored:
            .warning(
                "more rows of one time than a page end the pull with brokenProtocol", "leave out $skip rows",
                "notices the repeated page, and ends the pull")
        case .filterRefused:
            .fault("no change can be followed", "accept $filter with eq, ne, gt, ge, lt, le, and, or", "ends the pull")
        case .filterIgnored:
            .fault(
                "rows come that were not asked for, and each pull reads everything", "give only the rows of $filter",
                "checks ids and times of what comes; a filter of your own is not checked")
        case .filterMisses:
            .fault(
                "rows are taken for deleted", "find a row by the id and the time that lists show",
                "asks for a row once more before it removes it")
        case .countMissing:
            .warning(
                "online tables cannot count, and a pull shows no share of its work",
                "answer the request for a count (\u{24}inlinecount=allpages, or \u{24}count=true)",
                "syncs without; count() of an online table fails")
        case .countWrong:
            .warning(
                "programs that page by the count miss rows or ask in vain", "count the rows of the filter that exist",
                "pages until nothing comes, whatever the count is")
        case .deletedListed:
            .warning(
                "online lists show deleted rows", "leave deleted rows out unless they are asked for",
                "takes them for deleted in a pull")
        case .deletedRefused:
            .warning(
                "no pull hears of a delete", "accept the parameter that includes deleted rows",
                "finds them by sluice reconcile alone")
        case .idsComparedOtherwise:
            .warning(
                "pages by id cannot be trusted, so they are checked",
                "use one collation for $orderby and for comparisons of the id",
                "checks each page by id with a second request, and else pages by $skip")
        case .pagesLimited:
            .warning(
                "the first pull needs some refused requests", "shorten large pages and link the next, and refuse none",
                "asks for a tenth, and remembers the size")
        case .pagesFail:
            .warning(
                "the first pull needs some failed requests",
                "shorten large pages, or give the server more memory or time",
                "asks for a part where a smaller page has come before")
        case .pagesOverlap:
            .fault(
                "lists repeat rows, and so leave others out", "keep one order over all pages of a list",
                "drops what comes twice, and in pulls checks where each page begins")
        case .linksElsewhere:
            .warning(
                "other clients follow the link past the proxy, or nowhere",
                "have the server use X-Forwarded-Host and -Proto, or write relative links",
                "takes the query of a link, and asks its own endpoint")
        case .linksCircle:
            .fault(
                "a list never ends", "count the next link's $skip or token on", "stops at a link that it has followed")
        case .linksLost:
            .warning(
                "other clients get 404 for the second page", "write the table's own path into the next link",
                "pages by $skip instead")
        case .tagsWeak:
            .warning(
                "a weak tag cannot be a condition (RFC 9110, section 13.1.1)", "write strong tags of the version",
                "uses the version in the body, and never a weak tag")
        case .tagsSuffixed:
            .warning(
                "a client that sends the tag back as a condition is always refused",
                "have the web server leave ETag alone when it compresses", "uses the version in the body")
        case .tagsDiffer:
            .warning(
                "clients that go by the tag and clients that go by the version overwrite each other",
                "write the version into ETag", "uses the version in the body")
        case .tagsList:
            .warning(
                "no client can use it as a condition", "write one tag into ETag", "uses the version in the body")
        default: nil
        }
    }
}
