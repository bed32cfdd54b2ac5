import { methods } from '../../lib/methods.ts'

/**
 * Gets what a `null` means. `unconfirmed`: another node should confirm it. `impossible`: the method never returns it, so the node lacks something.
 * `valid`: it is the result.
 * @see https://github.com/ethereum/execution-apis
 */
export const getNullMeaning = (method: string): 'unconfirmed' | 'impossible' | 'valid' => {
  const row = methods.get(method)
  if (row?.null === 'absent') return 'unconfirmed'
  return row === undefined || row.null === 'answer' ? 'valid' : 'impossible'
}

/** Checks whether a result is `null`. */
export const isNull = (value: Buffer | string): boolean => value.length === 4 && value.toString('latin1') === 'null'
