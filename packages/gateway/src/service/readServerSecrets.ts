import { readFileSync } from 'node:fs'
import { createServerSecret } from '../lib/secrets/serverSecret.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import { ConfigError } from './configError.ts'

/** The server's secrets: the newest first, then those that keys may still be sealed under. */
export type ServerSecrets = readonly [newest: ServerSecret, ...older: ServerSecret[]]

/** One secret as it is written: its version, and itself. */
export interface WrittenSecret {
  readonly version: number
  readonly text: string
}

const path = 'KEYRAIL_SECRET'
const generate = 'make one with openssl rand -base64 48'

const wrong = (fix: string): ConfigError => new ConfigError([{ path, fix }])

/**
 * Reads secrets out of their text: parts divided by white space, each `VERSION:SECRET`; without a version it is the first.
 * @throws {ConfigError} where one is too short, or two have one version; none is repeated.
 */
export const parseServerSecrets = (given: string): readonly WrittenSecret[] => {
  const written = given
    .trim()
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part): WrittenSecret => {
      const [, version = '1', text = part] = /^(\d{1,3}):(.+)$/.exec(part) ?? []
      return { version: Number(version), text }
    })
  if (written.length === 0) throw wrong(`is empty: ${generate}`)
  if (new Set(written.map(({ version }) => version)).size < written.length)
    throw wrong('holds two secrets of one version: write them as VERSION:SECRET, each with a version of its own')
  return written.toSorted((one, other) => other.version - one.version)
}

/**
 * Reads the server's secret from `KEYRAIL_SECRET`, or from the file that `KEYRAIL_SECRET_FILE` names.
 * @param environment - @default process.env
 * @throws {ConfigError} where there is none, both are set, or one is too short. None is repeated.
 * @example
 * const secrets = readServerSecrets({ KEYRAIL_SECRET_FILE: '/run/secrets/keyrail' })
 */
export const readServerSecrets = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ServerSecrets => {
  const { KEYRAIL_SECRET: given = '', KEYRAIL_SECRET_FILE: file = '' } = environment
  if (given !== '' && file !== '') throw wrong('and KEYRAIL_SECRET_FILE are both set: unset one')
  if (given === '' && file === '')
    throw wrong(`is missing: set it, or KEYRAIL_SECRET_FILE to the path of a file that holds it; ${generate}`)
  let text = given
  if (file !== '')
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
      throw new ConfigError([{ path: 'KEYRAIL_SECRET_FILE', fix: `names a file that cannot be read: ${reason}` }])
    }
  try {
    const [newest, ...older] = parseServerSecrets(text).map(({ version, text: secret }) =>
      createServerSecret(secret, { version }),
    )
    if (newest === undefined) throw wrong(`is empty: ${generate}`)
    return [newest, ...older]
  } catch (error) {
    // Its words are of a text that was given; here it has a name.
    if (error instanceof TypeError) throw wrong(`is not usable: ${error.message}`)
    throw error
  }
}
