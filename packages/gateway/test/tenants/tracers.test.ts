import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { post } from '../startGateway.ts'
import { call, summarize, startTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

const listed = `0x${'a1'.repeat(20)}`
const hash = `"0x${'c3'.repeat(32)}"`
const program = JSON.stringify(
  '{step: function(log, db) { db.getCode(log.contract.getAddress()) }, fault: function() {}, result: function() {}}',
)

/** Every method that accepts a tracer, with the given config in its params. */
const traces = (config: string): readonly (readonly [method: string, params: string])[] => [
  ['debug_traceTransaction', `[${hash},${config}]`],
  ['debug_traceBlock', `["0xc0",${config}]`],
  ['debug_traceBlockByHash', `[${hash},${config}]`],
  ['debug_traceBlockByNumber', `["latest",${config}]`],
  ['debug_traceBadBlock', `[${hash},${config}]`],
  ['debug_intermediateRoots', `[${hash},${config}]`],
  ['debug_traceCall', `[{"to":"${listed}"},"latest",${config}]`],
  ['trace_block', `["latest",false,${config}]`],
  ['trace_filter', `[{},false,${config}]`],
  ['trace_transaction', `[${hash},false,${config}]`],
  ['trace_replayTransaction', `[${hash},["trace"],false,${config}]`],
  ['trace_replayBlockTransactions', `["latest",["trace"],false,${config}]`],
]

/** Configs that some node reads as a custom tracer. */
const customConfigs: readonly string[] = [
  `{"tracer":${program}}`,
  `{"Tracer":${program}}`,
  `{"TRACER":${program}}`,
  `{"tracer":"callTracer","Tracer":${program}}`,
  `{"tracer":"callTracer","tracer":${program}}`,
  `{"tracer":"callTracer","\\u0074racer":${program}}`,
  `{"tracer":"muxTracer","tracerConfig":{${program}:{}}}`,
  `{"tracer":"muxTracer","TracerConfig":{"callTracer":{},"muxTracer":{${program}:null}}}`,
]

describe('a custom tracer', () => {
  let tenants: StartedTenants
  let allowing: StartedTenants
  beforeAll(async () => {
    tenants = await startTenants({ services: { debug: true, trace: true } })
    allowing = await startTenants({ services: { debug: true, trace: true, javascriptTracers: true } })
  })
  afterAll(() => Promise.all([tenants.stop(), allowing.stop()]))

  const list = compileAllowList({ addresses: [{ value: listed }] })
  const send = async (to: StartedTenants, path: string, body: string): Promise<[unknown, number]> => {
    to.upstream.bodies.length = 0
    return [summarize(await post(path, body)), to.upstream.bodies.length]
  }

  test.each(customConfigs)('is rejected by default for every method that accepts one: %s', async (config) => {
    const { path } = tenants.addApp()
    for (const [method, params] of traces(config))
      expect([method, ...(await send(tenants, path, call(method, params)))]).toEqual([
        method,
        [403, 'tracer_not_allowed'],
        0,
      ])
  })

  test.each(customConfigs)(
    'is forwarded if the operator allows it, except for a key with an address list: %s',
    async (config) => {
      const { path } = allowing.addApp()
      const narrow = allowing.addApp({ allow: list }).path
      for (const [method, params] of traces(config)) {
        expect([method, ...(await send(allowing, path, call(method, params)))]).toEqual([method, [200, '0x1'], 1])
        expect([method, ...(await send(allowing, narrow, call(method, params)))]).toEqual([
          method,
          [403, 'address_not_allowed'],
          0,
        ])
      }
    },
  )

  test.each([
    '{}',
    'null',
    '{"tracer":"callTracer","tracerConfig":{"withLog":true}}',
    '{"tracer":"muxTracer","tracerConfig":{"callTracer":null}}',
  ])('does not include %s', async (config) => {
    const { path } = tenants.addApp()
    for (const [method, params] of traces(config))
      expect([method, ...(await send(tenants, path, call(method, params)))]).toEqual([method, [200, '0x1'], 1])
  })

  test('is quoted in the error, shortened, with an alternative', async () => {
    const { path } = tenants.addApp()
    const { text } = await post(path, call('debug_traceTransaction', `[${hash},{"tracer":"${'x'.repeat(10_000)}"}]`))
    expect(JSON.parse(text)).toMatchObject({
      error: {
        code: -32002,
        message: `rejected due to service settings: tracer "${'x'.repeat(40)}…" not allowed. Use a built-in tracer, such as callTracer`,
      },
    })
    const repeated = await post(
      path,
      call('debug_traceTransaction', `[${hash},{"tracer":"callTracer","Tracer":"callTracer"}]`),
    )
    expect(repeated.text).toContain('repeated or escaped member names')
  })
})
