// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import SluiceCore

@c @implementation
public func sluice_open(
    _ options: UnsafePointer<sluice_options>?, _ context: UnsafeMutablePointer<sluice_context>?,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        guard let context else { throw Input.null("context") }
        context.pointee = 0
        try ThisProcess.check()
        try OpenContext.allow(.waiting)
        let opening = try Opening(options)
        context.pointee = OpenContext.all.add(try CallerExecutor.run { try await opening.open() })
        return nil
    }
}

@c @implementation
public func sluice_close(_ context: sluice_context, _ out: UnsafeMutablePointer<sluice_text>?) -> Int32 {
    Reply.to(out) {
        _ = try OpenContext.find(context, .waiting)
        try OpenContext.all.remove(context).close()
        return nil
    }
}

@c @implementation
public func sluice_interrupt(_ context: sluice_context, _ out: UnsafeMutablePointer<sluice_text>?) -> Int32 {
    Reply.to(out) {
        try ThisProcess.check()
        try OpenContext.all.find(context).interrupt()
        return nil
    }
}
