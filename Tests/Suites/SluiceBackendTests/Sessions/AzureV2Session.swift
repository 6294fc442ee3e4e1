import HTTPTypes

extension WireSession {
    /// Mobile Apps: the requests of its .NET, iOS and JavaScript clients.
    static let azureV2 = WireSession(
        name: "azure-v2", headers: [("ZUMO-API-VERSION", "2.0.0"), ("Accept", "application/json")],
        steps: [
            Step(
                title: "Insert", method: .post, path: "/tables/todoitem",
                headers: [("Content-Type", "application/json"), ("X-ZUMO-FEATURES", "TU,OL")],
                body: #"{"id":"7","text":"buy milk","done":false}"#, status: 201, contains: [#""version""#],
                answers: ["ETag", "Location"], remember: "first"),
            Step(
                title: "The first page of a pull", method: .get,
                path: "/tables/todoitem?$filter=(updatedAt%20ge%20datetimeoffset'1969-12-31T00%3A00%3A00.000Z')"
                    + "&$orderby=updatedAt&$top=50&__includeDeleted=true",
                headers: [("X-ZUMO-FEATURES", "QS,OL")], status: 200, contains: [#""deleted":false"#]),
            Step(
                title: "A date as .NET writes it, with seven digits", method: .get,
                path:
                    "/tables/todoitem?$filter=(updatedAt%20ge%20datetimeoffset'2001-02-03T00%3A00%3A00.0000000%2B00%3A00')",
                status: 200, contains: ["buy milk"]),
            Step(
                title: "Update, on the version that was read", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}")],
                body: #"{"id":"7","text":"buy oat milk"}"#, status: 200, contains: ["oat milk"], answers: ["ETag"],
                remember: "second"),
            Step(
                title: "Update, on a version that is old", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}")],
                body: #"{"id":"7","text":"mine"}"#, status: 412, contains: ["oat milk"], answers: ["ETag"]),
            Step(
                title: "Update, on an old version in the body alone", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")], body: #"{"text":"mine","version":"AAAA"}"#,
                status: 409, contains: ["oat milk"], answers: ["ETag"]),
            Step(
                title: "A lookup of what is known already", method: .get, path: "/tables/todoitem/7",
                headers: [("If-None-Match", "{second}")], status: 304),
            Step(
                title: "Delete", method: .delete, path: "/tables/todoitem/7", headers: [("If-Match", "{second}")],
                status: 204),
            Step(
                title: "Undelete", method: .post, path: "/tables/todoitem/7", status: 201,
                contains: [#""deleted":false"#]),
            Step(
                title: "Count", method: .get, path: "/tables/todoitem?$top=0&$inlinecount=allpages", status: 200,
                contains: [#""count":1"#]),
            Step(
                title: "The link to the next page has no angle brackets", method: .get, path: "/tables/numbers?$top=5",
                status: 200, answers: ["Link"]),
            Step(
                title: "A query that means nothing", method: .get,
                path: "/tables/todoitem?$filter=done%20equals%20true",
                status: 400, contains: ["$filter", "character 5"]),
            Step(
                title: "A change with an id", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
            Step(
                title: "The same again, as the answer was lost", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
        ] + unshownServers)
}
