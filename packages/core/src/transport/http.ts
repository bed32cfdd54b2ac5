import { optionsExample } from '../endpoint/endpointUrlOptions.ts'
import type { EndpointUrlOptions } from '../endpoint/endpointUrlOptions.ts'
import { resolveEndpoint } from '../endpoint/resolveEndpoint.ts'
import type { RequestTarget } from '../endpoint/resolveEndpoint.ts'
import type { HttpResponse } from '../http/httpClient.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureContext, FailureFacts } from '../failure/createFailure.ts'
import { check, checkNames, checkObject, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { withoutTracing } from '../observe/withoutTracing.ts'
import { readResponse } from '../message/readResponse.ts'
import { findChainMismatch } from '../message/findChainMismatch.ts'
import type { Send } from './call.ts'
import { onCancel } from './onCancel.ts'
import { createHttpClient } from '#http'

/** Options of {@link http}. */
export interface HttpOptions {
  /** Used in place of the platform's own way to send. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for example one that goes through a proxy. */
  readonly agent?: object | undefined
  /** A larger answer fails with kind `badResponse`, in bytes. @default 67_108_864 (64 MiB) */
  readonly maxResponseBytes?: number | undefined
}

/**
 * Posts a body to an address. `done` is called once, with the facts of a failure or an answer, and not after the returned function was called,
 * which ends the request. A body that is a function is written just before it is sent. `again` says whether the body may be sent twice where a kept-alive connection turns out to be dead.
 */
export type Post = (
  body: string | (() => string),
  again: boolean,
  done: (
    facts: FailureFacts | undefined,
    response: HttpResponse | undefined,
    context: Omit<FailureContext, 'method'>,
  ) => void,
) => () => void

/** The lowest layer: carries a call to one address. */
export interface Endpoint {
  /** What may be printed of the address. */
  readonly redactedUrl: string
  readonly send: Send
  readonly close: () => void
}

/** An endpoint through which layers can post bodies of their own, such as batches. */
export interface HttpEndpoint extends Endpoint {
  /** The chain that answers must come from, where one was named. */
  readonly chainId: number | undefined
  readonly post: Post
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
 * const endpoint = http({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' }, { maxResponseBytes: 2 ** 20 })
 * endpoint.redactedUrl // the URL without the key
 * @see JSON-RPC 2.0 sections 4 and 5
 */
export function http<Network extends string = string>(
  address: EndpointUrlOptions<Network>,
  options: HttpOptions = {},
): HttpEndpoint {
  checkObject('http', address, optionsExample)
  checkNames('http', options, ['fetch', 'agent', 'maxResponseBytes'])
  const { fetch, agent, maxResponseBytes = 2 ** 26 } = options
  check(!fetch || typeof fetch === 'function', `fetch must be a function, not ${describeType(fetch)}`)
  checkRange('maxResponseBytes', maxResponseBytes, 1, 2 ** 31)
  const { redactedUrl, chainId, getTarget } = resolveEndpoint(address)
  const httpClient = createHttpClient({ fetch, agent, maxResponseBytes })
  let lastId = 0

  const post: Post = (body, again, done) => {
    let over = false
    let stop: (() => void) | undefined
    const send = (to: RequestTarget): void => {
      if (over) return
      const text = typeof body === 'string' ? body : body()
      const ended: Parameters<typeof httpClient.send>[2] = (fault, response) => {
        if (!fault?.stale || !again) return done(fault, response, to)
        // The server had closed the idle connection before this call reached it: nobody has seen the call.
        again = false
        send(to)
      }
      stop = withoutTracing(() => httpClient.send(to, text, ended))
      // A given fetch may have ended the call while it was called.
      if (over) stop()
    }
    // What users gave is called when the layers have done their work: an abort or a close in it would get between them.
    const to = fetch || agent ? Promise.resolve().then(getTarget) : getTarget()
    if (to instanceof Promise)
      to.then(
        send,
        ({ message: text }: Error) => over || done({ kind: 'invalidRequest', text }, undefined, { redactedUrl }),
      )
    else send(to)
    return () => {
      over = true
      stop?.()
    }
  }

  const send: Send = (call, settle) => {
    const { method } = call
    const id = ++lastId
    const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${call.params}}`
    const stop = post(body, isReadMethod(method), (facts, response, context) => {
      let read: { readonly result: unknown } | FailureFacts = facts as FailureFacts
      try {
        if (response) read = readResponse(response, { id, method })
        if ('result' in read)
          read =
            findChainMismatch(chainId, method === 'eth_chainId' ? read.result : response?.header('x-chain-id')) ?? read
      } catch {
        // The response of a given fetch may be anything. One that cannot be read costs this call, and not the process.
        read = { kind: 'badResponse', text: 'the response cannot be read' }
      }
      if ('result' in read) settle(true, read.result)
      else settle(false, createFailure(read, { ...context, method }))
    })
    onCancel(call, (reason) => {
      stop()
      settle(false, reason)
    })
  }
  return { redactedUrl, chainId, send, post, close: httpClient.close }
}
