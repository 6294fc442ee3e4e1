package import SluiceCore

/// Values of fields that a codec translates one way.
package struct FieldValues: Sendable {
    /// A value with the name of its field.
    package struct Value: Sendable {
        let field: PropertyName
        let value: JSON

        package init(_ field: PropertyName, _ value: JSON) { (self.field, self.value) = (field, value) }
    }

    /// The failure of one value.
    struct Failure: Error {
        let index: Int
        let failure: PluginFailure
    }

    /// The translated values, or the first failure, and the changes of `kv` to save.
    struct Outcome: Sendable {
        var values: [JSON] = []
        var failure: Failure?
        var saves: [String: JSON?] = [:]
    }

    let plan: HookPlan
    let table: String
    let values: [Value]

    package init(_ plan: HookPlan, _ table: String, _ values: [Value]) {
        self.plan = plan
        self.table = table
        self.values = values
    }

    /// Returns the hook call for one value, with at most that much fuel. Its answer is the translated value.
    package func call(at index: Int, fuel: Int64? = nil) -> HookCall {
        let (field, value) = (values[index].field, values[index].value)
        return HookCall(
            plan: plan, arguments: [LuaArgument(nil, value), LuaArgument(nil, JSON(field))], table: table,
            extra: [("table", JSON(table))], fuel: fuel,
            interpret: { HookAnswer(try Self.translated($0, from: value), "changed") })
    }

    /// Reads a hook's result.
    ///
    /// - Throws: ``ScriptFailure`` of kind `badResult`, without the value.
    private static func translated(_ result: HookReturn, from given: JSON) throws -> JSON {
        guard let value = result.value else {
            throw ScriptFailure(.badResult, "the hook returned nothing for a value; json.null stands for null")
        }
        let numbers = GivenNumbers(of: [given])
        if let double = GivenNumbers.inexactWhole(value), !numbers.inexact.contains(double) {
            throw ScriptFailure(.badResult, "the hook returned a whole number beyond 2^53 that went through a float")
        }
        return numbers.long.restored(value, from: [given])
    }
}

extension PluginHost {
    /// Asks a plugin about each value up to the first failure. Together the calls may use the fuel of a page with as many
    /// records.
    func translate(_ values: FieldValues, of id: PluginInstance.ID) -> FieldValues.Outcome {
        var outcome = FieldValues.Outcome()
        var fuel = HookKind.afterPullPage.budget.fuel(forRecords: values.values.count)
        for index in values.values.indices {
            let before = instances[id]?.fuelUsed ?? 0
            switch begin(values.call(at: index, fuel: fuel), of: id) {
            case .done(let answer, let saves):
                outcome.saves.merge(saves) { $1 }
                outcome.values.append(answer.value as? JSON ?? .null)
            case .failed(let failure): outcome.failure = FieldValues.Failure(index: index, failure: failure)
            case .waits(let call, _, _):
                if case .failed(let failure) = end(call, .yield) {
                    outcome.failure = FieldValues.Failure(index: index, failure: failure)
                }
            case .passedOn: break
            }
            // Each value has an answer, or none is used.
            if outcome.values.count <= index { break }
            fuel = max(1, fuel - ((instances[id]?.fuelUsed ?? before) - before))
        }
        return outcome
    }
}
