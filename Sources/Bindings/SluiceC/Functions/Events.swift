// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import SluiceCore

@c @implementation
public func sluice_subscribe(
    _ context: sluice_context, _ kinds: UInt32, _ callback: sluice_event_callback?,
    _ data: UnsafeMutableRawPointer?, _ subscription: UnsafeMutablePointer<sluice_subscription>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .local)
        guard let subscription else { throw Input.null("subscription") }
        subscription.pointee = 0
        guard kinds != 0, kinds & ~(SLUICE_CHANGES | SLUICE_PROGRESS | SLUICE_PHASES) == 0 else {
            throw SluiceError(.invalidArgument, "there are no events of the kinds \(kinds)")
        }
        let made = try Subscription(open, kinds, callback.map { EventCallback(callback: $0, data: data) })
        let handle = Subscription.all.add(made)
        do {
            try open.add(handle)
        } catch {
            try Subscription.all.remove(handle).end()
            throw error
        }
        subscription.pointee = handle
        return nil
    }
}

@c @implementation
public func sluice_next(
    _ subscription: sluice_subscription, _ milliseconds: Int32, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.bytes(to: out) {
        try ThisProcess.check()
        try OpenContext.allow(milliseconds == 0 ? .local : .waiting)
        return try Subscription.all.find(subscription).next(milliseconds)
    }
}

@c @implementation
public func sluice_descriptor(
    _ subscription: sluice_subscription, _ descriptor: UnsafeMutablePointer<Int32>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try ThisProcess.check()
        try OpenContext.allow(.local)
        guard let descriptor else { throw Input.null("descriptor") }
        descriptor.pointee = -1
        descriptor.pointee = try Subscription.all.find(subscription).readable()
        return nil
    }
}

@c @implementation
public func sluice_unsubscribe(
    _ subscription: sluice_subscription, _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        try ThisProcess.check()
        try OpenContext.allow(.local)
        try Subscription.all.remove(subscription).unsubscribe(subscription)
        return nil
    }
}
