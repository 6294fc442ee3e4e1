import HTTPTypes

extension WireSession {
    /// Mobile Apps 5 and 6: the requests of its .NET client.
    static let azureV3 = WireSession(
        name: "azure-v3", headers: [("ZUMO-API-VERSION", "3.0.0"), ("Accept", "application/json")],
        steps: [
            Step(
                title: "Insert", method: .post, path: "/tables/todoitem",
                headers: [("Content-Type", "application/json")], body: #"{"id":"7","text":"buy milk","done":false}"#,
                status: 201, contains: [#""version""#], answers: ["ETag", "Last-Modified", "Location"],
                remember: "first"),
            Step(
                title: "The first page of a pull", method: .get,
                path:
                    "/tables/todoitem?$filter=%28updatedAt%20gt%20cast%281970-01-01T00%3A00%3A00.000Z%2CEdm.DateTimeOffset%29%29"
                    + "&$orderby=updatedAt&$count=true&__includedeleted=true",
                status: 200, contains: [#"{"items":["#, #""count":1"#]),
            Step(
                title: "The next page is an address, or a path where that is asked for", method: .get,
                path: "/tables/numbers?$orderby=id", headers: [("X-ZUMO-Options", "nextLink=path")], status: 200,
                contains: [#""nextLink":"/tables/numbers?$orderby=id&$skip=2""#]),
            Step(
                title: "Replace, on the version that was read", method: .put, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}")],
                body: #"{"id":"7","text":"buy oat milk","done":false}"#, status: 200, contains: ["oat milk"],
                answers: ["ETag"], remember: "second"),
            Step(
                title: "Replace, on a version that is old", method: .put, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}")],
                body: #"{"id":"7","text":"mine"}"#, status: 412, contains: ["oat milk"],
                answers: ["ETag", "Last-Modified"]),
            Step(
                title: "A part of a record", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json-patch+json")],
                body: #"[{"op":"replace","path":"/done","value":true}]"#, status: 200, contains: [#""done":true"#],
                remember: "third"),
            Step(
                title: "Delete", method: .delete, path: "/tables/todoitem/7", headers: [("If-Match", "{third}")],
                status: 204),
            Step(title: "A deleted record, by its id", method: .get, path: "/tables/todoitem/7", status: 410),
            Step(
                title: "Undelete", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")], body: #"{"deleted":false}"#, status: 200,
                contains: [#""deleted":false"#, "oat milk"]),
            Step(
                title: "A query for a column that is not there", method: .get,
                path: "/tables/numbers?$filter=%28missing%20eq%2020%29", status: 400,
                contains: ["missing", "character 1"]),
            Step(
                title: "A change with an id", method: .put, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
            Step(
                title: "The same again, as the answer was lost", method: .put, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
        ] + unshownServers)
}
