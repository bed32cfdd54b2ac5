import type { TracingContext } from './tracing.ts'

interface ContextManager {
  active(): TracingContext
  with<T>(context: TracingContext, run: () => T): T
}

/** Where `@opentelemetry/api` 1.x keeps what was registered with it, whichever copy of it that was. */
const API: unique symbol = Symbol.for('opentelemetry.js.api.1') as typeof API

/** How every OpenTelemetry SDK marks a context in which nothing is traced: keys of contexts are registered symbols. */
const SUPPRESSED = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

/**
 * Runs something such that OpenTelemetry traces nothing of it. Instrumentation of `http`, `undici` and `fetch` would put the whole address into
 * its spans, and the address holds the key. Costs one look-up where no OpenTelemetry is registered.
 *
 * @param run - Run once, at once.
 * @returns What it returns.
 * @see https://opentelemetry.io/docs/specs/otel/context/
 */
export function withoutTracing<T>(run: () => T): T {
  const manager = (globalThis as { [API]?: { context?: ContextManager } })[API]?.context
  return manager ? manager.with(manager.active().setValue(SUPPRESSED, true), run) : run()
}
