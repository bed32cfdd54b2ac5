import type { EthereumRpc, Hex, MethodName, Params } from '@keyrail/core'
import { getResponse } from 'msw'
import { createMockNode } from '../src/index.ts'
import type { MockChainOptions, MockNode } from '../src/index.ts'

/** A mock node whose handlers are asked directly, with nothing in between. */
export interface AskedNode {
  readonly node: MockNode
  /** @throws an error with the code, message and data that the node gave. */
  readonly ask: <M extends MethodName>(
    method: M,
    ...params: Extract<Params<EthereumRpc, M>, readonly unknown[]>
  ) => Promise<never>
  /** Posts any body. */
  readonly post: (body: unknown, init?: RequestInit) => Promise<Response>
}

const url = 'https://node.example/rpc'

/** Makes one. */
export function askNode(options: MockChainOptions & { readonly chainId?: number } = {}): AskedNode {
  const node = createMockNode({ url, ...options })
  const post = async (body: unknown, init: RequestInit = {}): Promise<Response> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await getResponse(
      node.handlers,
      new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text, ...init }),
    )
    if (response === undefined) throw new Error('no handler took the request')
    return response
  }
  return {
    node,
    post,
    async ask(method, ...params) {
      const response = await post({ jsonrpc: '2.0', id: 1, method, params })
      const { result, error } = (await response.json()) as { result?: never; error?: { message: string } }
      if (error !== undefined) throw Object.assign(new Error(error.message), error)
      return result as never
    },
  }
}

/** A number in 32 bytes of hex. */
export const wordOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
