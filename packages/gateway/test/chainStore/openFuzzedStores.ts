import { DatabaseSync } from 'node:sqlite'
import { openChainStore } from '../../src/storage/chainStore/openChainStore.ts'
import type { ChainStore } from '../../src/storage/chainStore/chainStore.ts'
import { damageRows, fuzzedChain } from './storeFuzz.ts'
import type { FuzzedStore } from './storeFuzz.ts'

/** Options of stores that are fuzzed. */
interface FuzzedStoreOptions {
  readonly file: string
  readonly maxBytes: number
  /** How many rows are damaged at a time. @default 0 */
  readonly damaged?: number
}

/** Opens a store that prints its warnings. */
export const openMeasuredStore = (file: string, maxBytes: number): Promise<ChainStore> =>
  openChainStore({ file, maxBytes, warn: (what) => void process.stderr.write(`${what}\n`) })

/** Uses stores in turn. @param getChain - The chain that they have now. @default that of the fuzzing */
export const useInTurn = (
  stores: readonly ChainStore[],
  getChain = () => fuzzedChain,
): Omit<FuzzedStore, 'disturb'> => {
  let turn = 0
  const next = (): ChainStore => stores[(turn += 1) % stores.length] as ChainStore
  const toText = (text: string): string => getChain() + text.slice(fuzzedChain.length)
  return {
    readLogs: (query) => next().readLogs(getChain(), query, { maxBytes: Infinity }),
    joinLogs: (results) => next().joinLogs(results),
    addLogs: (answer) => next().addLogs({ ...answer, chain: getChain() }),
    readEntry: (text) => next().readEntry(toText(text)),
    addEntry: (answer) => next().addEntry({ ...answer, chain: getChain(), text: toText(answer.text) }),
    pickUnconfirmed: (from, options) => next().call('pickUnconfirmed', { ...from, chain: getChain() }, options),
    confirm: (answer) => next().call('confirm', { ...answer, chain: getChain() }),
  }
}

/** Opens two stores on one file, with threads of their own as in two processes. They are used in turn. */
export const openFuzzedStores = async ({
  file,
  maxBytes,
  damaged = 0,
}: FuzzedStoreOptions): Promise<FuzzedStore & { readonly close: () => Promise<void> }> => {
  const stores = [await openMeasuredStore(file, maxBytes), await openMeasuredStore(file, maxBytes)]
  const database = new DatabaseSync(file, { timeout: 10_000 })
  return {
    ...useInTurn(stores),
    disturb: (random) => {
      if (damaged === 0) return
      database.exec('begin immediate')
      damageRows(database, random, damaged)
      database.exec('commit')
    },
    close: async () => {
      database.close()
      await Promise.all(stores.map((store) => store.close()))
    },
  }
}
