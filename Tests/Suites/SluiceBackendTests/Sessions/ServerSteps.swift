import HTTPTypes

extension WireSession {
    /// The marks of a request that may come again.
    static let repeatable = [
        ("Repeatability-Request-ID", "0190b0f3-1f2e-7000-8000-000000000001-1"),
        ("Repeatability-First-Sent", "Mon, 06 May 2024 07:08:09 GMT"),
    ]

    /// The same, which the page of another wire shows.
    static let unshownServers = servers.map { step in
        var step = step
        step.isShown = false
        return step
    }

    /// What this project's server offers beside the generation's own requests, on every wire.
    static let servers = [
        Step(
            title: "A list that asks for change tokens", method: .get, path: "/tables/numbers?$filter=(n%20le%202)",
            headers: [("Prefer", "odata.track-changes")], status: 200, contains: ["n1", "n2"],
            answers: ["Preference-Applied", "X-Sluice-Delta-Token"], token: "TOKEN-1"),
        Step(
            title: "A batch, part of it carried out whole or not at all", method: .post, path: "/tables/$batch",
            headers: [("Content-Type", "application/json")],
            body: #"{"requests":["#
                + #"{"id":"a","method":"PUT","url":"tables/numbers/n1","body":{"n":7},"atomicityGroup":"g"},"#
                + #"{"id":"b","method":"DELETE","url":"tables/numbers/n2","atomicityGroup":"g"},"#
                + #"{"id":"c","method":"DELETE","url":"tables/numbers/n9"},"#
                + #"{"id":"d","method":"DELETE","url":"tables/numbers/n3","dependsOn":["c"]}]}"#,
            status: 200, contains: [#""status":204"#, #""status":424"#]),
        Step(
            title: "What changed since", method: .get,
            path: "/tables/numbers?$filter=(n%20le%202)&$deltatoken={TOKEN-1}", status: 200,
            contains: [#"{"reason":"changed"}"#, #"{"reason":"deleted"}"#], answers: ["X-Sluice-Delta-Token"],
            token: "TOKEN-2"),
        Step(
            title: "Nothing since", method: .get, path: "/tables/numbers?$filter=(n%20le%202)&$deltatoken={TOKEN-2}",
            status: 200, answers: ["X-Sluice-Delta-Token"], token: "TOKEN-2"),
        Step(
            title: "A digest of what is there", method: .get, path: "/tables/numbers/$digest?$filter=(n%20gt%202)",
            status: 200, contains: [#"{"count":4"#]),
    ]
}
