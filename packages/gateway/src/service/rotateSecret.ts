import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createServerSecret } from '../lib/secrets/serverSecret.ts'
import { resealKeys } from '../storage/resealKeys.ts'
import type { Storage } from '../storage/openStorage.ts'
import { ConfigError } from './configError.ts'
import { parseServerSecrets } from './readServerSecrets.ts'
import type { WrittenSecret } from './readServerSecrets.ts'

/** What a rotation of the secret did. */
export interface SecretRotation {
  /** The version of the newest secret. */
  readonly version: number
  /** How many keys were sealed anew. */
  readonly resealed: number
  /** The ids of keys that no secret opens. They work as before, but cannot be shown again. */
  readonly unreadable: readonly string[]
  /** The versions that were taken out of the file. */
  readonly dropped: readonly number[]
}

const newestVersion = 255
const privateMode = 0o600
/** A service that runs takes a changed file within half a second. */
const settleMs = 1_500

const writeSecrets = (file: string, secrets: readonly WrittenSecret[]): void => {
  const path = resolve(file)
  const beside = `${path}.${process.pid}.new`
  writeFileSync(beside, secrets.map(({ version, text }) => `${version}:${text}\n`).join(''), { mode: privateMode })
  chmodSync(beside, privateMode)
  renameSync(beside, path)
}

const opened = (secrets: readonly WrittenSecret[]) => {
  const [newest, ...older] = secrets.map(({ version, text }) => createServerSecret(text, { version }))
  if (newest === undefined) throw new ConfigError([{ path: 'KEYRAIL_SECRET', fix: 'is empty' }])
  return [newest, ...older] as const
}

/**
 * Brings a new server secret in and seals every key anew under it. The old ones stay in the file until they are dropped: other instances may
 * need them until they have taken the file.
 * @param options.keys - The repository of keys.
 * @param options.file - What `KEYRAIL_SECRET_FILE` names. Its owner's alone afterwards.
 * @param options.drop - Brings no new secret, but takes the older ones out once no key needs them. @default false
 * @param options.waitMs - How long services that run are given to take the file before keys are sealed anew, in milliseconds. @default 1500
 * @throws {ConfigError} where the file cannot be used, there were 255 secrets already, or an old one is still needed.
 */
export const rotateSecret = async ({
  keys,
  file,
  drop = false,
  waitMs = settleMs,
}: {
  keys: Storage['keys']
  file: string
  drop?: boolean
  waitMs?: number
}): Promise<SecretRotation> => {
  const before = parseServerSecrets(readFileSync(file, 'utf8'))
  const version = before[0]?.version ?? 0
  if (drop) {
    const { resealed, unreadable } = await resealKeys(keys, opened(before))
    if (unreadable.length > 0)
      throw new ConfigError([
        {
          path: 'KEYRAIL_SECRET_FILE',
          fix: `keeps its old secrets: no secret opens ${unreadable.length} of the keys`,
        },
      ])
    writeSecrets(file, before.slice(0, 1))
    return { version, resealed, unreadable, dropped: before.slice(1).map((one) => one.version) }
  }
  if (version >= newestVersion)
    throw new ConfigError([{ path: 'KEYRAIL_SECRET_FILE', fix: 'has come to its last version, 255' }])
  const secrets = [{ version: version + 1, text: randomBytes(48).toString('base64url') }, ...before]
  writeSecrets(file, secrets)
  await setTimeout(waitMs)
  return { version: version + 1, ...(await resealKeys(keys, opened(secrets))), dropped: [] }
}
