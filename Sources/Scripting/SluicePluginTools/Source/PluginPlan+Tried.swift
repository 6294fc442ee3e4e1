internal import SluiceCore
internal import SluiceLua

extension PluginPlan {
    /// Returns the plan for tests by tools: its answers take effect, whatever mode the deployment sets.
    func tried(in deployment: Deployment = Deployment()) -> PluginPlan {
        var plan = self
        plan.mode = .enforce
        if deployment != Deployment() { plan.deployment = deployment }
        return plan
    }

    /// Returns the plan with the limits of another plan for the same bundle.
    func limited(as other: PluginPlan?) -> PluginPlan {
        guard let other else { return self }
        var plan = self
        (plan.memoryBytes, plan.loadBudget) = (other.memoryBytes, other.loadBudget)
        for (kind, hook) in other.hooks { plan.hooks[kind]?.budget = hook.budget }
        return plan
    }
}
