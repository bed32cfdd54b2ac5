import { parseArgs } from 'node:util'
import { rows } from './rows.ts'

/** The arguments of the command line. */
export interface BenchArguments {
  readonly only: readonly string[]
  readonly rounds: number
  readonly withPeers: boolean
}

/** A median of fewer rounds is not recorded. */
export const FULL_ROUNDS = 25

/**
 * Reads the command line: `--only row,row`, `--rounds N`, `--quick` (5 rounds), `--peers`.
 *
 * @throws If an option or a row is unknown.
 */
export function readArguments(args: readonly string[]): BenchArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
    },
  })
  const known = rows.map(({ name }) => name)
  const only = values.only.flatMap((names) => names.split(','))
  for (const name of only)
    if (!known.includes(name)) throw new Error(`Unknown row "${name}". The rows are ${known.join(', ')}.`)
  const rounds = Number(values.rounds ?? (values.quick ? 5 : FULL_ROUNDS))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be an integer of at least 1')
  return { only: only.length ? only : known, rounds, withPeers: values.peers }
}
