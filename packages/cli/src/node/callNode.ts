/** A block as far as it is compared here. Wire form: the number is a hex quantity. */
export interface BlockHead {
  readonly number: string
  readonly hash: string
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/**
 * Asks an embedded node directly, past the service. Used to fill it and to have a second opinion on every first call,
 * so it shares no code with what it checks.
 *
 * @throws {Error} with the node's own message.
 */
export async function callNode(url: string, method: string, params: readonly unknown[] = []): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  })
  const answer: unknown = await response.json()
  if (isObject(answer) && 'result' in answer) return answer['result']
  const error = isObject(answer) && isObject(answer['error']) ? answer['error'] : undefined
  throw new Error(
    `the node rejected ${method}: ${typeof error?.['message'] === 'string' ? error['message'] : 'no reason given'}`,
  )
}

/** Tells whether something is a block with a number and a hash. */
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
 * What the node itself says of a block.
 *
 * @param block - A tag or a hex number.
 * @throws {Error} where the node has no such block.
 */
export async function getBlockHead(url: string, block: string): Promise<BlockHead> {
  const found = await callNode(url, 'eth_getBlockByNumber', [block, false])
  if (isBlockHead(found)) return { number: found.number, hash: found.hash }
  throw new Error(`the node has no block ${block}`)
}
