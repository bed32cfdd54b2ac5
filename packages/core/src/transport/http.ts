import type { AddressOptions } from '../address/addressOptions.ts'
import { openAddress } from '../address/openAddress.ts'
import type { OpenAddress } from '../address/openAddress.ts'
import type { Target } from '../carrier/carrier.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { Facts } from '../failure/createFailure.ts'
import { checkRange } from '../failure/invalid.ts'
import { repeatable } from '../failure/repeatable.ts'
import { readAnswer } from '../message/readAnswer.ts'
import type { Carry } from './call.ts'
import { createCarrier } from '#http'

/** Options of {@link http}. */
export interface HttpOptions {
  /** Used in place of the platform's own way to send. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for example one that goes through a proxy. */
  readonly agent?: object | undefined
  /** A larger answer fails with kind `badResponse`, in bytes. @default 67_108_864 (64 MiB) */
  readonly maxResponseBytes?: number | undefined
}

/** The lowest layer: carries a call to one address. */
export interface Endpoint {
  /** What may be printed of the address. */
  readonly label: string
  readonly carry: Carry
  readonly close: () => void
}

/**
 * Sends each call as one HTTP POST to a keyed address and reads the answer with distrust.
 * The key is put into the URL for each attempt and is held by nothing that can be reached from outside.
 * On Node it goes by `node:http` over kept-alive connections, elsewhere by `fetch`.
 *
 * @param address - Where the calls go.
 * @param options - How they are sent.
 * @throws {KeyrailError} kind `invalidRequest` where an option is wrong.
 * @example
 * const transport = compose(http({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' }), retry(), deadline())
 * @see JSON-RPC 2.0 sections 4 and 5
 */
export function http(address: AddressOptions, options: HttpOptions = {}): Endpoint {
  const { maxResponseBytes = 2 ** 26 } = options
  checkRange('maxResponseBytes', maxResponseBytes, 1, 2 ** 31)
  const { label, chainId, open } = openAddress(address)
  const carrier = createCarrier({ ...options, maxResponseBytes })
  let lastId = 0
  let opened: OpenAddress | undefined
  let target: Target

  const carry: Carry = (call, settle) => {
    const { method } = call
    const id = ++lastId
    let resent = false

    const send = (to: OpenAddress): void => {
      if (to !== opened) {
        opened = to
        target = carrier.target(to.url, to.headers)
      }
      const fail = (facts: Facts): void => settle(false, createFailure(facts, { ...to, method }))
      const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${call.params}}`
      const stop = carrier.send(target, body, (fault, answer) => {
        // The server had closed the idle connection before this call reached it: nobody has seen the call.
        if (fault?.stale && !resent && repeatable(method)) {
          resent = true
          return send(to)
        }
        if (!answer || fault) return fail(fault as Facts)
        const read = readAnswer(answer, { id, method })
        if (!('result' in read)) return fail(read)
        const seen = chainId && (method === 'eth_chainId' ? read.result : answer.header('x-chain-id'))
        if (seen && Number(seen) !== chainId)
          return fail({
            kind: 'wrongNetwork',
            text: `the node is on chain ${Number(seen)}, and chainId says ${chainId}`,
          })
        settle(true, read.result)
      })
      call.cancel = (reason) => {
        stop()
        settle(false, reason)
      }
    }

    const to = open()
    if (!(to instanceof Promise)) return send(to)
    call.cancel = (reason) => settle(false, reason)
    to.then((to) => call.ended || send(to), call.cancel)
  }
  return { label, carry, close: carrier.close }
}
