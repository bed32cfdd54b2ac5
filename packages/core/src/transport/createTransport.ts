import { addressExample } from '../address/addressOptions.ts'
import { check, checkNames, checkObject } from '../failure/invalid.ts'
import { createObserver } from '../observe/observe.ts'
import { createStats } from '../observe/stats.ts'
import type { BatchFn } from '../schema/batch.ts'
import type { EthereumRpc } from '../schema/ethereumRpc.ts'
import type { Call } from './call.ts'
import { createBatchRequest } from './batchRequest.ts'
import { cache } from './cache.ts'
import { chainIdOf } from './chainIdOf.ts'
import { coalesce } from './coalesce.ts'
import { createDeadlines } from './deadline.ts'
import type { FullTransport } from './fullTransport.ts'
import { withHint } from './hints.ts'
import { addressNames, openEndpoints } from './openEndpoints.ts'
import { retry } from './retry.ts'
import { route } from './route.ts'
import { safeWrite } from './safeWrite.ts'
import { createStack } from './stack.ts'
import { createGroup } from './transportGroup.ts'
import type { Options, TransportOptions } from './transportOptions.ts'

const ownNames: readonly (keyof TransportOptions | 'endpoints')[] = [
  'endpoints',
  'fetch',
  'agent',
  'maxResponseBytes',
  'maxInFlight',
  'maxWaitMs',
  'batch',
  'breaker',
  'budget',
  'attemptTimeoutMs',
  'acceptableWaitMs',
  'hedge',
  'minBlock',
  'retry',
  'cache',
  'coalesce',
  'keccak256',
  'resends',
  'layers',
  'timeoutMs',
  'hooks',
  'tracing',
]

/** The names of all options of a transport. */
export const transportOptionNames: readonly string[] = /* @__PURE__ */ addressNames.concat(ownNames)

/**
 * Makes a transport with every layer. One instance can stand behind several libraries: they then share its budget, cache and connections.
 *
 * What is off by default is `batch`, `cache`, `hedge`, `minBlock`, limits of the budget, and, for want of a hash function, safe writes.
 * Where every byte counts, `compose` bundles only the layers that are named.
 *
 * @param options - One address or several `endpoints`, and how calls travel.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 * @example
 * const transport = createTransport({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…', timeoutMs: 5_000, batch: true })
 * const block = await transport.request({ method: 'eth_blockNumber' })
 */
export function createTransport<Rpc = EthereumRpc>(options: Options): FullTransport<Rpc> {
  checkObject('createTransport', options, addressExample)
  checkNames('createTransport', options, transportOptionNames)
  const {
    retry: again,
    cache: kept = false,
    coalesce: shares = true,
    layers = [],
    keccak256,
    resends,
    minBlock,
    timeoutMs,
  } = options
  const { attemptTimeoutMs, acceptableWaitMs, hedge, hooks, tracing, agent } = options
  check(agent === undefined || 'addRequest' in Object(agent), 'agent must be an http.Agent or https.Agent of Node')
  check(resends === undefined || keccak256, 'resends needs keccak256')
  check(typeof shares === 'boolean', 'coalesce must be true or false')
  check(Object(kept) === kept || typeof kept === 'boolean', 'cache must be true, false, or an object of options')
  check(
    Array.isArray(layers) && layers.every((layer) => typeof layer === 'function'),
    'layers must be a list of layers: functions, as layer() makes them',
  )

  const stats = createStats()
  const { endpoints, chainId } = openEndpoints(options)
  const routed = route(endpoints, { attemptTimeoutMs, acceptableWaitMs, hedge, minBlock })
  const observer = createObserver({ stats, hooks, tracing })(routed.redactedUrl)
  // From the innermost to the outermost.
  const stack = createStack(
    routed,
    [
      again !== false && retry(typeof again === 'number' ? { retries: again } : again),
      kept !== false && cache({ chainId, ...(kept !== true && kept) }),
      shares && coalesce({ minBlock }),
      keccak256 && safeWrite({ keccak256, resends }),
      ...layers,
    ].filter((layer) => !!layer),
    {
      live: createDeadlines({ timeoutMs }, routed.redactedUrl, (call: Call) => call),
      begin: observer.begin,
      end: (call, ok, value) => {
        observer.end(call, ok, value)
        return ok ? value : withHint(value)
      },
    },
  )
  const { redactedUrl, dispatch, close } = stack
  return Object.freeze({
    redactedUrl,
    request: dispatch,
    batch: createBatchRequest(dispatch) as BatchFn<Rpc>,
    group: () => createGroup<Rpc>(stack),
    stats: () => ({ ...stats.snapshot(), route: routed.stats() }),
    chainId: chainIdOf(dispatch, redactedUrl, chainId),
    close,
    [Symbol.asyncDispose]: async () => close(),
  })
}
