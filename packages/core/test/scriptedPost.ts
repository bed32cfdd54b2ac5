import { now } from '../src/clock/now.ts'
import { createFailure } from '../src/failure/createFailure.ts'
import type { FailureFacts } from '../src/failure/failureFacts.ts'
import { readResponse } from '../src/message/readResponse.ts'
import { findChainMismatch } from '../src/message/findChainMismatch.ts'
import type { Call, Send } from '../src/transport/call/call.ts'
import type { HttpEndpoint, Post } from '../src/transport/endpoint/http.ts'

/** One call in a request body. */
export interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** A request that was posted. */
export interface Posted {
  readonly body: string
  /** Its calls; one if the body is not an array. */
  readonly rpcCalls: readonly RpcCall[]
  readonly batched: boolean
  /** The time, as from `now()`. */
  readonly at: number
  stopped: boolean
}

/** How a request ends: with a response or a failure, after a delay in milliseconds (default 1), or never. */
export type Reply = { readonly afterMs?: number } & (
  | { readonly status?: number; readonly text: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly facts: FailureFacts }
  | { readonly never: true }
)

/** An endpoint in memory. Its responses to request bodies come from a script. */
export interface ScriptedPost extends HttpEndpoint {
  readonly posted: Posted[]
  /** The number of requests in flight. */
  open: number
  /** Can be replaced at any time. */
  script: (posted: Posted) => Reply
}

/** The correct response to a call: its own method and params. */
export const echo = ({ id, method, params }: RpcCall): object => ({ jsonrpc: '2.0', id, result: { method, params } })

/** Responds correctly to every call. */
export const echoAll = ({ rpcCalls, batched }: Posted): Reply => ({
  text: JSON.stringify(batched ? rpcCalls.map(echo) : echo(rpcCalls[0] as RpcCall)),
})

/** Creates a scripted endpoint. Like real requests, its requests end asynchronously, in a timer. */
export function scriptedPost(script: ScriptedPost['script'] = echoAll, chainId?: number): ScriptedPost {
  const redactedUrl = 'https://node.example/…'
  const context = { redactedUrl, secrets: [] }
  const chain = { id: chainId }
  let lastId = 1_000_000
  const post: Post = (given, _again, done) => {
    const body = typeof given === 'string' ? given : given()
    const read = JSON.parse(body) as RpcCall | RpcCall[]
    const batched = Array.isArray(read)
    const posted: Posted = { body, rpcCalls: batched ? read : [read], batched, at: now(), stopped: false }
    endpoint.posted.push(posted)
    endpoint.open++
    const reply = endpoint.script(posted)
    const timer =
      'never' in reply
        ? undefined
        : setTimeout(() => {
            endpoint.open--
            if ('facts' in reply) return done(reply.facts, undefined, context)
            const { status = 200, text, headers = {} } = reply
            done(undefined, { status, text, header: (name) => headers[name] }, context)
          }, reply.afterMs ?? 1)
    return () => {
      clearTimeout(timer)
      endpoint.open--
      posted.stopped = true
    }
  }
  const send: Send = (call: Call, complete) => {
    const { method, params } = call
    const id = ++lastId
    const stop = post(`{"id":${id},"method":"${method}","params":${params}}`, false, (facts, response) => {
      let read = response ? readResponse(response, { id, method }) : (facts as FailureFacts)
      if ('result' in read) {
        const wrong = findChainMismatch(chain, method === 'eth_chainId' ? read.result : response?.header('x-chain-id'))
        if (!wrong) return complete(true, read.result)
        read = wrong
      }
      complete(false, createFailure(read, { method, redactedUrl }))
    })
    call.cancel = (reason) => {
      stop()
      complete(false, reason)
    }
  }
  const endpoint: ScriptedPost = { redactedUrl, chain, send, post, close: () => {}, posted: [], open: 0, script }
  return endpoint
}
