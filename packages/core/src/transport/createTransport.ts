import type { AddressOptions } from '../address/addressOptions.ts'
import { check, checkNames } from '../failure/invalid.ts'
import { compose } from './compose.ts'
import { deadline } from './deadline.ts'
import type { DeadlineOptions } from './deadline.ts'
import { hints } from './hints.ts'
import { http } from './http.ts'
import type { HttpOptions } from './http.ts'
import { retry } from './retry.ts'
import type { RetryOptions } from './retry.ts'
import type { Transport } from './transport.ts'

/** How calls travel. */
export interface TransportOptions extends HttpOptions, DeadlineOptions {
  /** How failed calls are made again; `false` for never, a number for that many times. @default 3 times, full jitter from 150 ms, at most 5 s */
  readonly retry?: false | number | RetryOptions | undefined
}

/** One options type for every package: where calls go, and how. */
export type Options = AddressOptions & TransportOptions

const names: readonly (keyof AddressOptions | keyof TransportOptions)[] = [
  'url',
  'baseUrl',
  'rpcUrl',
  'apiKey',
  'network',
  'chainId',
  'jwt',
  'fetch',
  'agent',
  'maxResponseBytes',
  'timeoutMs',
  'retry',
]

/**
 * Makes a transport of what every call needs: http, retry, a deadline and hints. One instance can stand behind several libraries.
 * Further layers are put around an endpoint by `compose`.
 *
 * @param options - An address, and how calls travel.
 * @throws {KeyrailError} kind `invalidRequest`, naming the option and the mend.
 * @example
 * const transport = createTransport({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…', timeoutMs: 5_000 })
 * const block = await transport.request({ method: 'eth_blockNumber' })
 */
export function createTransport(options: Options): Transport {
  checkNames('createTransport', options, names)
  const { fetch, agent, maxResponseBytes, timeoutMs, retry: again } = options
  check(agent === undefined || 'addRequest' in Object(agent), 'agent must be an http.Agent or https.Agent of Node')
  return compose(
    http(options, { fetch, agent, maxResponseBytes }),
    ...(again === false ? [] : [retry(typeof again === 'number' ? { retries: again } : again)]),
    deadline({ timeoutMs }),
    hints(),
  )
}
