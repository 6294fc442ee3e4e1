internal import SluiceCore
internal import SluiceLua

extension PluginPlan {
    /// The plan as tools try it: its answers count, whatever the deployment does with them.
    func tried(in deployment: Deployment = Deployment()) -> PluginPlan {
        var plan = self
        plan.mode = .enforce
        if deployment != Deployment() { plan.deployment = deployment }
        return plan
    }

    /// The plan with the limits of another one of the same bundle.
    func limited(as other: PluginPlan?) -> PluginPlan {
        guard let other else { return self }
        var plan = self
        (plan.memoryBytes, plan.loadBudget) = (other.memoryBytes, other.loadBudget)
        for (kind, hook) in other.hooks { plan.hooks[kind]?.budget = hook.budget }
        return plan
    }
}
