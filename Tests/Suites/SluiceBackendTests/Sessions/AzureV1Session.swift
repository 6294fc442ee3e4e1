import HTTPTypes

extension WireSession {
    /// Mobile Services: the requests of its .NET and iOS clients.
    static let azureV1 = WireSession(
        name: "azure-v1",
        headers: [
            ("X-ZUMO-APPLICATION", "the-key"), ("X-ZUMO-INSTALLATION-ID", "7f9c24e8-3b13-4fcd-8a61-1d1a3f5c2b10"),
            ("Accept", "application/json"),
        ],
        steps: [
            Step(
                title: "Insert", method: .post, path: "/tables/todoitem?__systemProperties=__version",
                headers: [("Content-Type", "application/json")], body: #"{"id":"7","text":"buy milk","done":false}"#,
                status: 201, contains: [#""__version""#], answers: ["ETag", "Location"], remember: "first"),
            Step(
                title: "The first page of a pull", method: .get,
                path:
                    "/tables/todoitem?$filter=(__updatedAt%20ge%20datetimeoffset'1970-01-01T00%3A00%3A00.0000000%2B00%3A00')"
                    + "&$orderby=__updatedAt&$skip=0&$top=50&__includeDeleted=true"
                    + "&__systemproperties=__updatedAt%2C__deleted",
                headers: [("X-ZUMO-FEATURES", "QS,OL")], status: 200,
                contains: [#""__updatedAt":"2024-05-06T07:08:09.123Z""#, #""__deleted":false"#]),
            Step(
                title: "Update, on the version that was read", method: .patch,
                path: "/tables/todoitem/7?__systemProperties=__version",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}"), ("X-ZUMO-FEATURES", "TU,OL")],
                body: #"{"text":"buy oat milk"}"#, status: 200, contains: ["oat milk"], answers: ["ETag"],
                remember: "second"),
            Step(
                title: "Update, on a version that is old", method: .patch,
                path: "/tables/todoitem/7?__systemProperties=__version",
                headers: [("Content-Type", "application/json"), ("If-Match", "{first}")], body: #"{"text":"mine"}"#,
                status: 412, contains: ["oat milk", #""__version""#], answers: ["ETag"]),
            Step(
                title: "An insert under an id that exists", method: .post, path: "/tables/todoitem",
                headers: [("Content-Type", "application/json")], body: #"{"id":"7","text":"again"}"#, status: 409,
                contains: ["oat milk"]),
            Step(
                title: "Delete", method: .delete, path: "/tables/todoitem/7", headers: [("If-Match", "{second}")],
                status: 204),
            Step(
                title: "A deleted record, by its id", method: .get, path: "/tables/todoitem/7", status: 404,
                contains: ["does not exist"]),
            Step(
                title: "Undelete", method: .post, path: "/tables/todoitem/7?__systemProperties=*", status: 201,
                contains: [#""__deleted":false"#]),
            Step(
                title: "Count", method: .get, path: "/tables/todoitem?$top=0&$inlinecount=allpages", status: 200,
                contains: [#""count":1"#]),
            Step(
                title: "A system column in a body is refused", method: .patch, path: "/tables/todoitem/7",
                headers: [("Content-Type", "application/json")], body: #"{"__deleted":true}"#, status: 400,
                contains: ["__deleted"]),
            Step(
                title: "A change with an id", method: .patch, path: "/tables/todoitem/7?__systemProperties=__version",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
            Step(
                title: "The same again, as the answer was lost", method: .patch,
                path: "/tables/todoitem/7?__systemProperties=__version",
                headers: [("Content-Type", "application/json")] + repeatable, body: #"{"text":"buy bread"}"#,
                status: 200,
                contains: ["buy bread"], answers: ["ETag", "Repeatability-Result"]),
        ] + unshownServers)
}
