/** The parts of a block to compare, as in JSON-RPC: the number is a hex quantity. */
export interface BlockHead {
  readonly number: string
  readonly hash: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/**
 * Calls an embedded node directly, without the service. It seeds the node and verifies first calls, so it shares no code with the SDK.
 *
 * @throws {Error} with the node's message.
 */
export async function callNode(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  })
  const body: unknown = await response.json()
  if (isObject(body) && 'result' in body) return body['result']
  const error = isObject(body) && isObject(body['error']) ? body['error'] : undefined
  throw new Error(
    `the node rejected ${method}: ${typeof error?.['message'] === 'string' ? error['message'] : 'no reason given'}`,
  )
}

/** Whether a value is a block with a number and a hash. */
export function isBlockHead(value: unknown): value is BlockHead {
  return (
    isObject(value) &&
    typeof value['number'] === 'string' &&
    /^0x[0-9a-f]+$/.test(value['number']) &&
    typeof value['hash'] === 'string' &&
    /^0x[0-9a-f]{64}$/.test(value['hash'])
  )
}

/**
 * Reads a block from the node.
 *
 * @param block - A tag or a hex number.
 * @throws {Error} if the node has no such block.
 */
export async function getBlockHead(url: string, block: string): Promise<BlockHead> {
  const found = await callNode(url, 'eth_getBlockByNumber', [block, false])
  if (isBlockHead(found)) return { number: found.number, hash: found.hash }
  throw new Error(`the node has no block ${block}`)
}
