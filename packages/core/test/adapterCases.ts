import type { RpcErrorObject } from '@keyrail/core'
import { raw } from './faultServer.ts'
import type { Script } from './faultServer.ts'

/** A key that is easy to find in any text that leaks it. */
export const leakableKey: string = `kr_a${'k3Y'.repeat(13)}`

/** Responds with a JSON-RPC error under status 200. */
export const rpcError = (error: object): Script =>
  raw(200, `{"jsonrpc":"2.0","id":$ID,"error":${JSON.stringify(error)}}`)

/** The same revert in each form that nodes use. */
export const revertForms = (data: string): readonly (readonly [name: string, error: RpcErrorObject])[] => [
  ['code 3', { code: 3, message: 'execution reverted', data }],
  ['-32000 with a reason', { code: -32_000, message: 'execution reverted: no', data }],
  ['-32015 and a word before the bytes', { code: -32_015, message: 'VM execution error.', data: `Reverted ${data}` }],
  ['nested', { code: -32_603, message: 'Internal error', data: { code: 3, message: 'execution reverted', data } }],
]

/** Errors of the service in front of a node, with the kind and HTTP status of each. None of them is a revert. */
export const serviceErrors = [
  ['a throttle', 'throttled', 200, rpcError({ code: -32_005, message: 'too many requests' })],
  ['a throttle by text', 'throttled', 429, raw(429, 'slow down')],
  ['a rejected key', 'auth', 401, raw(401, 'no such key')],
  ['a quota', 'quota', 402, raw(402, '{"error":"payment required"}')],
  ['a gateway that is down', 'unavailable', 503, raw(503, 'down')],
] as const satisfies readonly (readonly [name: string, kind: string, status: number, script: Script])[]

/** Responds to each call, alone or in a batch, with the same result. */
export const replyToCalls =
  (result: unknown): Script =>
  ({ json }, response) => {
    const reply = ({ id }: { readonly id: number }): object => ({ jsonrpc: '2.0', id, result })
    response.end(JSON.stringify(Array.isArray(json) ? json.map(reply) : reply(json)))
  }

/** Closes the connection of each raw transaction without a response. Finds every hash that is looked up. */
export const dropTransactions: Script = (seen, response, socket) => {
  if (seen.json.method === 'eth_sendRawTransaction') return void socket.destroy()
  return raw(200, `{"jsonrpc":"2.0","id":$ID,"result":{"hash":"${String(seen.json.params[0])}"}}`)(
    seen,
    response,
    socket,
  )
}
