import HTTPTypes

extension WireSession {
    /// An OData v4 service, asked as Sluice's client asks.
    static let odataV4 = WireSession(
        name: "odata-v4",
        headers: [("Accept", "application/json"), ("OData-Version", "4.0"), ("OData-MaxVersion", "4.01")],
        steps: [
            Step(
                title: "Create, with the row as it is then", method: .post, path: "/odata/v4/todoitem",
                headers: [json, returning], body: #"{"id":"7","text":"buy milk","done":false}"#, status: 201,
                contains: [#""@odata.etag""#], answers: ["ETag", "Location"], remember: "first"),
            Step(
                title: "The first page of a pull, which is to follow changes", method: .get,
                path: "/odata/v4/todoitem?$filter=done%20eq%20false", headers: [tracking], status: 200,
                contains: ["@odata.deltaLink"], answers: ["Preference-Applied"], link: "@odata.deltaLink"),
            Step(
                title: "Update, on the version that was read", method: .patch, path: "/odata/v4/todoitem('7')",
                headers: [json, returning, ("If-Match", "{first}")], body: #"{"text":"buy oat milk"}"#, status: 200,
                contains: ["oat milk"], answers: ["ETag"], remember: "second"),
            Step(
                title: "Update, on a version that is old", method: .patch, path: "/odata/v4/todoitem('7')",
                headers: [json, returning, ("If-Match", "{first}")], body: #"{"text":"mine"}"#, status: 412),
            Step(
                title: "What has changed", method: .get, path: "{@odata.deltaLink}", headers: [tracking], status: 200,
                contains: ["oat milk", "@odata.deltaLink"], link: "later"),
            Step(
                title: "Two changes that go together", method: .post, path: "/odata/v4/$batch",
                headers: [json, ("Prefer", "odata.continue-on-error")],
                body:
                    #"{"requests":[{"id":"1","atomicityGroup":"g1","method":"POST","url":"todoitem","headers":{"content-type":"application/json"},"body":{"id":"8","text":"bread","done":false}},{"id":"2","atomicityGroup":"g1","method":"PATCH","url":"todoitem('7')","headers":{"content-type":"application/json","if-match":"W/\"old\""},"body":{"done":true}}]}"#,
                status: 200, contains: [#""status":412"#]),
            Step(
                title: "Delete", method: .delete, path: "/odata/v4/todoitem('7')", headers: [("If-Match", "{second}")],
                status: 204),
            Step(
                title: "What has changed since: a row is gone", method: .get, path: "{later}", headers: [tracking],
                status: 200, contains: ["@removed", #""deleted""#], link: "last"),
            Step(title: "A deleted row, by its key", method: .get, path: "/odata/v4/todoitem('7')", status: 404),
            Step(
                title: "A filter that cannot be read", method: .get, path: "/odata/v4/numbers?$filter=n%20eq",
                status: 400,
                contains: [#""error""#]),
        ])

    /// An OData v2 service, asked as Sluice's client asks.
    static let odataV2 = WireSession(
        name: "odata-v2",
        headers: [("Accept", "application/json"), ("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0")],
        steps: [
            Step(
                title: "Create", method: .post, path: "/odata/v2/todos", headers: [json],
                body: #"{"id":"7","text":"buy milk","place":"12"}"#, status: 201,
                contains: ["__metadata", #""place":"12""#],
                answers: ["ETag", "Location"], remember: "first"),
            Step(
                title: "The first page of a pull", method: .get,
                path: "/odata/v2/todos?$filter=startswith(text,'buy')%20eq%20true", headers: [tracking], status: 200,
                contains: ["__delta", "results"], link: "__delta"),
            Step(
                title: "Update, on the version that was read", method: HTTPRequest.Method("MERGE")!,
                path: "/odata/v2/todos('7')", headers: [json, ("If-Match", "{first}")],
                body: #"{"text":"buy oat milk"}"#, status: 204, answers: ["ETag"], remember: "second"),
            Step(
                title: "The row is read back, since the answer does not have it", method: .get,
                path: "/odata/v2/todos('7')", status: 200, contains: ["oat milk", "/Date("]),
            Step(
                title: "Update, on a version that is old, by POST", method: .post, path: "/odata/v2/todos('7')",
                headers: [json, ("X-HTTP-Method", "MERGE"), ("If-Match", "{first}")], body: #"{"text":"mine"}"#,
                status: 412),
            Step(
                title: "Delete", method: .delete, path: "/odata/v2/todos('7')", headers: [("If-Match", "{second}")],
                status: 204),
            Step(
                title: "What has changed: a row is gone", method: .get, path: "{__delta}", headers: [tracking],
                status: 200, contains: [#""deleted":true"#], link: "last"),
        ])

    private static let json = ("Content-Type", "application/json")
    private static let returning = ("Prefer", "return=representation")
    private static let tracking = ("Prefer", "odata.track-changes")
}
