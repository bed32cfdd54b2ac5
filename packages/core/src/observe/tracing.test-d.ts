import * as api from '@opentelemetry/api'
import { context, trace } from '@opentelemetry/api'
import { expectTypeOf, test } from 'vitest'
import type { TracingOptions } from './tracing.ts'

test('tracing accepts the module, its two members, and any tracer of it', () => {
  const given: TracingOptions[] = [{ api }, { api: { context, trace } }, { api, tracer: trace.getTracer('mine') }]
  expectTypeOf(given).toExtend<readonly TracingOptions[]>()
})

test('tracing accepts nothing else', () => {
  expectTypeOf({ api: { context } }).not.toExtend<TracingOptions>()
  expectTypeOf({ tracer: trace.getTracer('mine') }).not.toExtend<TracingOptions>()
})
