import { parseArgs } from 'node:util'
import { rows } from './rows.ts'

/** What the command line asks for. */
export interface Asked {
  readonly only: readonly string[]
  readonly rounds: number
  readonly withPeers: boolean
}

/** Below this many rounds a median is no figure to write down. */
export const FULL_ROUNDS = 25

/**
 * Reads the command line: `--only row,row`, `--rounds N`, `--quick` (5 rounds), `--peers`.
 *
 * @throws where an option is unknown or no row is called so.
 */
export function readArguments(args: readonly string[]): Asked {
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
    if (!known.includes(name)) throw new Error(`no row is called '${name}': there are ${known.join(', ')}`)
  const rounds = Number(values.rounds ?? (values.quick ? 5 : FULL_ROUNDS))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1')
  return { only: only.length ? only : known, rounds, withPeers: values.peers }
}
