import type { EndpointUrlOptions } from '../../endpoint/endpointUrlOptions.ts'
import { resolveEndpoint } from '../../endpoint/resolveEndpoint.ts'
import type { RequestTarget } from '../../endpoint/resolveEndpoint.ts'
import type { HttpResponse } from '../../http/httpClient.ts'
import { createFailure } from '../../failure/createFailure.ts'
import type { FailureContext, FailureFacts } from '../../failure/createFailure.ts'
import { check, checkRange } from '../../failure/check.ts'
import { describeType } from '../../failure/describeType.ts'
import { isReadMethod } from '../../failure/isReadMethod.ts'
import { withoutTracing } from '../../observe/withoutTracing.ts'
import { readResponse } from '../../message/readResponse.ts'
import { findChainMismatch } from '../../message/findChainMismatch.ts'
import type { ExpectedChain } from '../../message/findChainMismatch.ts'
import type { Send } from '../call/call.ts'
import { onCancel } from '../call/onCancel.ts'
import { createHttpClient } from '#http'

/** Options of {@link http}. */
export interface HttpOptions {
  /** Sends the requests in place of the platform's own HTTP client. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Node only: an `http.Agent` or `https.Agent`, for example one that goes through a proxy. */
  readonly agent?: object | undefined
  /** The largest response, in bytes. A larger one fails with kind `badResponse`. @default 67_108_864 (64 MiB) */
  readonly maxResponseBytes?: number | undefined
}

/**
 * Posts a body. `done` is called once, with the facts of a failure or with a response. The returned function ends the request, and `done` is not
 * called after it. If the body is a function, it is called just before the body is sent. `again` is whether the body may be sent a second time if the
 * server had closed an idle connection.
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

/** The lowest layer: sends calls to one URL. */
export interface Endpoint {
  /** The URL without its key. Safe to print. */
  readonly redactedUrl: string
  readonly send: Send
  readonly close: () => void
}

/** An endpoint through which layers can post their own bodies, such as batches. */
export interface HttpEndpoint extends Endpoint {
  /** The chain that responses must come from. */
  readonly chain: ExpectedChain
  readonly post: Post
}

/**
 * Creates an endpoint that sends each call as one HTTP POST and validates the response. The key is added to the URL for each request, and no object
 * that users can reach holds it. On Node, requests use `node:http` over keep-alive connections, on other platforms `fetch`.
 *
 * @param address - The URL of the endpoint, or the options from which it is built.
 * @param options - How calls are sent.
 * @param anyChain - The chain that responses must come from, if `address` has no `chainId`.
 * @throws {KeyrailError} kind `invalidRequest` if an option is wrong.
 * @example
 * const endpoint = http({ baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' }, { maxResponseBytes: 2 ** 20 })
 * endpoint.redactedUrl // the URL without the key
 * @see JSON-RPC 2.0 sections 4 and 5
 */
export function http<Network extends string = string>(
  address: EndpointUrlOptions<Network>,
  options: HttpOptions = {},
  anyChain: ExpectedChain = { id: undefined },
): HttpEndpoint {
  const { fetch, agent, maxResponseBytes = 2 ** 26 } = options
  check(!fetch || typeof fetch === 'function', `fetch must be a function, not ${describeType(fetch)}`)
  checkRange('maxResponseBytes', maxResponseBytes, 1, 2 ** 31)
  const { redactedUrl, chainId, getTarget } = resolveEndpoint(address)
  const chain = chainId === undefined ? anyChain : { id: chainId }
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
        // The server had closed the idle connection before this call reached it, so it has not seen the call.
        again = false
        send(to)
      }
      stop = withoutTracing(() => httpClient.send(to, text, ended))
      // A given fetch may have ended the call while it was called.
      if (over) stop()
    }
    // A user's fetch or agent is called after the layers have done their work, because it may abort the call or close the transport.
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

  const send: Send = (call, complete) => {
    const { method } = call
    const id = ++lastId
    const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${call.params}}`
    const stop = post(body, isReadMethod(method), (facts, response, context) => {
      let read: { readonly result: unknown } | FailureFacts = facts as FailureFacts
      try {
        if (response) read = readResponse(response, { id, method })
        if ('result' in read)
          read =
            findChainMismatch(chain, method === 'eth_chainId' ? read.result : response?.header('x-chain-id')) ?? read
      } catch {
        // The response of a given fetch may be anything. One that cannot be read costs this call, and not the process.
        read = { kind: 'badResponse', text: 'the response cannot be read' }
      }
      if ('result' in read) complete(true, read.result)
      else complete(false, createFailure(read, { ...context, method }))
    })
    onCancel(call, (reason) => {
      stop()
      complete(false, reason)
    })
  }
  return { redactedUrl, chain, send, post, close: httpClient.close }
}
