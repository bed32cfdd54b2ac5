import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openFuzzedStores } from './openFuzzedStores.ts'
import { createFixedChain, fuzzStore } from './storeFuzz.ts'
import type { FuzzResult } from './storeFuzz.ts'

/**
 * Kills processes that fuzz a store, one after the other, and fuzzes what each leaves in the file.
 * @param options.requests - How many requests are sent while each process runs, and after it was killed.
 * @returns How each of these runs ended.
 */
export const fuzzWithKills = async ({
  file,
  kills,
  requests,
  seed,
}: {
  readonly file: string
  readonly kills: number
  readonly requests: number
  readonly seed: number
}): Promise<readonly FuzzResult[]> => {
  const results: FuzzResult[] = []
  const fixedChain = createFixedChain()
  for (let round = 0; round < kills; round += 1) {
    const child = fork(join(import.meta.dirname, 'fuzzUntilKilled.ts'), [file, String(seed + round)])
    const exited = once(child, 'exit')
    await once(child, 'message')
    const store = await openFuzzedStores({ file, maxBytes: 20_000_000 })
    const fuzz = async (): Promise<void> => {
      results.push(await fuzzStore(store, { requests, seed: seed + kills + results.length, atOnce: 16, fixedChain }))
    }
    await fuzz()
    child.kill('SIGKILL')
    await exited
    await fuzz()
    await store.close()
  }
  return results
}
