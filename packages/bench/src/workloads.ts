import type { Subject } from './subjects/subject.ts'

/** A number of calls. */
export interface Workload {
  readonly method: string
  readonly calls: number
  /** How many are in flight at once. */
  readonly concurrency: number
  /** In waves: this many are sent in one tick, and the next ones once all of them have a response. */
  readonly waves?: boolean
  /** Whether a wave uses `wave` of the subject, if it has that. */
  readonly batched?: boolean
}

/** The workloads by name. */
export const workloads: Readonly<Record<string, Workload>> = {
  sequential: { method: 'eth_blockNumber', calls: 3_000, concurrency: 1 },
  concurrent: { method: 'eth_getBalance', calls: 20_000, concurrency: 64 },
  waves: { method: 'eth_getBalance', calls: 20_000, concurrency: 100, waves: true, batched: true },
  blocks: { method: 'eth_getBlockByHash', calls: 2_000, concurrency: 1 },
  fullBlocks: { method: 'eth_getBlockByNumber', calls: 500, concurrency: 1 },
  logs: { method: 'eth_getLogs', calls: 20, concurrency: 1 },
  lone: { method: 'eth_blockNumber', calls: 25, concurrency: 1 },
  flood: { method: 'eth_getBalance', calls: 100_000, concurrency: 100_000, waves: true },
}

const hex = (n: number, digits = 0): string => `0x${n.toString(16).padStart(digits, '0')}`

/** No two calls of a run are equal, so that none can share the response of another. */
const paramsByMethod: Readonly<Record<string, (n: number) => readonly unknown[]>> = {
  eth_blockNumber: () => [],
  eth_getBalance: (n) => [hex(n, 40), 'latest'],
  eth_getBlockByHash: (n) => [hex(n, 64), false],
  eth_getBlockByNumber: (n) => [hex(n), true],
  eth_getLogs: (n) => [{ fromBlock: hex(n * 1_000), toBlock: hex(n * 1_000 + 999) }],
}

/** Whether a result is complete. */
const whole: Readonly<Record<string, (result: unknown) => boolean>> = {
  eth_blockNumber: (result) => result === '0x134f2d1',
  // Hex, or a bigint if a library has decoded it.
  eth_getBalance: (result) => BigInt(result as string) === 0x1bc16d674ec80000n,
  eth_getBlockByHash: (result) => (result as { transactions: unknown[] }).transactions.length === 198,
  eth_getBlockByNumber: (result) => (result as { transactions: unknown[] }).transactions.length === 194,
  eth_getLogs: (result) => (result as unknown[]).length === 8_600,
}

/**
 * Makes the calls, and checks every result.
 *
 * @param started - Called when the first calls are in flight, or all calls if there is one wave.
 * @throws If a result is not that of the server.
 */
export async function runWorkload(
  subject: Subject,
  { method, calls, concurrency, waves, batched }: Workload,
  started?: () => void,
): Promise<void> {
  const params = paramsByMethod[method] as (n: number) => readonly unknown[]
  const isWhole = whole[method] as (result: unknown) => boolean
  const check = (result: unknown): void => {
    if (!isWhole(result)) throw new Error(`a wrong result of ${method}`)
  }
  if (waves) {
    for (let made = 0; made < calls; made += concurrency) {
      const list = Array.from({ length: concurrency }, (_, at) => params(made + at))
      const results =
        batched && subject.wave ? subject.wave(method, list) : Promise.all(list.map((one) => subject.call(method, one)))
      if (made === 0) started?.()
      for (const result of await results) check(result)
    }
    return
  }
  let made = 0
  const worker = async (): Promise<void> => {
    while (made < calls) check(await subject.call(method, params(made++)))
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
