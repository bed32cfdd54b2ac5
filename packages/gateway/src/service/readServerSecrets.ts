import { readFileSync } from 'node:fs'
import { createServerSecret } from '../lib/secrets/serverSecret.ts'
import type { ServerSecret } from '../lib/secrets/serverSecret.ts'
import { ConfigError, unreadableFile } from './configError.ts'

/** The server's secrets, the newest first. API keys can still be sealed with the older ones. */
export type ServerSecrets = readonly [newest: ServerSecret, ...older: ServerSecret[]]

/** A secret and its version. */
export interface WrittenSecret {
  readonly version: number
  readonly text: string
}

const variableName = 'KEYRAIL_SECRET'
const fileName = 'the file of KEYRAIL_SECRET_FILE'
const generate = 'create one with openssl rand -base64 48'

const fault = (path: string, fix: string): ConfigError => new ConfigError([{ path, fix }])

/**
 * Parses secrets separated by white space, each `VERSION:SECRET`. Without a version it is version 1.
 * @param text - The secrets.
 * @param path - What contains them, for the error. @default the file of KEYRAIL_SECRET_FILE
 * @returns The secrets, the newest first.
 * @throws {ConfigError} if there is none, or two have the same version. The message contains no secret.
 */
export const parseServerSecrets = (text: string, path = fileName): readonly WrittenSecret[] => {
  const written = text
    .trim()
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part): WrittenSecret => {
      const [, version = '1', secret = part] = /^(\d{1,3}):(.+)$/.exec(part) ?? []
      return { version: Number(version), text: secret }
    })
  if (written.length === 0) throw fault(path, `is empty: ${generate}`)
  if (new Set(written.map(({ version }) => version)).size < written.length)
    throw fault(path, 'has two secrets with the same version: write each as VERSION:SECRET with a different version')
  return written.toSorted((one, other) => other.version - one.version)
}

/**
 * Reads the server's secrets from `KEYRAIL_SECRET`, or from the file that `KEYRAIL_SECRET_FILE` names.
 * @param environment - @default process.env
 * @throws {ConfigError} if there is none, both variables are set, or a secret is too short. The message contains no secret.
 * @example
 * const secrets = readServerSecrets({ KEYRAIL_SECRET_FILE: '/run/secrets/keyrail' })
 */
export const readServerSecrets = (
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ServerSecrets => {
  const { KEYRAIL_SECRET: variable = '', KEYRAIL_SECRET_FILE: file = '' } = environment
  if (variable !== '' && file !== '') throw fault(variableName, 'and KEYRAIL_SECRET_FILE are both set: unset one')
  if (variable === '' && file === '')
    throw fault(
      variableName,
      `is missing: set it, or set KEYRAIL_SECRET_FILE to the path of a file that holds it; ${generate}`,
    )
  const path = file === '' ? variableName : fileName
  let text = variable
  if (file !== '')
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw unreadableFile('KEYRAIL_SECRET_FILE', error)
    }
  try {
    const [newest, ...older] = parseServerSecrets(text, path).map(({ version, text: secret }) =>
      createServerSecret(secret, { version }),
    )
    if (newest === undefined) throw fault(path, `is empty: ${generate}`)
    return [newest, ...older]
  } catch (error) {
    if (error instanceof TypeError) throw fault(path, `cannot be used: ${error.message}`)
    throw error
  }
}
