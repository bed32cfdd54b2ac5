import type { EthereumRpc, Hex, MethodName, Params } from '@keyrail/core'
import { getResponse, HttpHandler } from 'msw'
import { createMockNode } from '../src/index.ts'
import type { MockChainOptions, MockNode } from '../src/index.ts'

/** A mock node whose handlers are called directly, without a server. */
export interface TestNode {
  readonly node: MockNode
  /** @throws an error with the code, message and data of the response. */
  readonly request: <M extends MethodName>(
    method: M,
    ...params: Extract<Params<EthereumRpc, M>, readonly unknown[]>
  ) => Promise<never>
  /** Posts any body. */
  readonly post: (body: unknown, init?: RequestInit) => Promise<Response>
}

const url = 'https://node.example/rpc'

/** Creates a {@link TestNode}. */
export function createTestNode(options: MockChainOptions & { readonly chainId?: number } = {}): TestNode {
  const node = createMockNode({ url, ...options })
  const post = async (body: unknown, init: RequestInit = {}): Promise<Response> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await getResponse(
      node.handlers.filter((handler) => handler instanceof HttpHandler),
      new Request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text, ...init }),
    )
    if (response === undefined) throw new Error('no handler matched the request')
    return response
  }
  return {
    node,
    post,
    async request(method, ...params) {
      const response = await post({ jsonrpc: '2.0', id: 1, method, params })
      const { result, error } = (await response.json()) as { result?: never; error?: { message: string } }
      if (error !== undefined) throw Object.assign(new Error(error.message), error)
      return result as never
    },
  }
}

/** Converts a number to 32 bytes of hex. */
export const toWord = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
