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

/** The result of a secret rotation. */
export interface SecretRotation {
  /** The version of the newest secret. */
  readonly version: number
  /** How many keys were resealed. */
  readonly resealed: number
  /** The ids of keys that no secret can open. They stay valid, but cannot be shown again. */
  readonly unreadable: readonly string[]
  /** The versions that were removed from the file. */
  readonly dropped: readonly number[]
}

const maxVersion = 255
const privateMode = 0o600
/** A running service reloads a changed file within half a second. */
const defaultWaitMs = 1_500

const writeSecrets = (file: string, secrets: readonly WrittenSecret[]): void => {
  const path = resolve(file)
  const temporary = `${path}.${process.pid}.new`
  writeFileSync(temporary, secrets.map(({ version, text }) => `${version}:${text}\n`).join(''), { mode: privateMode })
  chmodSync(temporary, privateMode)
  renameSync(temporary, path)
}

const toServerSecrets = (secrets: readonly WrittenSecret[]) => {
  const [newest, ...older] = secrets.map(({ version, text }) => createServerSecret(text, { version }))
  if (newest === undefined) throw new ConfigError([{ path: 'KEYRAIL_SECRET', fix: 'is empty' }])
  return [newest, ...older] as const
}

const resealAll = async (
  sealed: readonly (Storage['keys'] | Storage['webhooks'] | Storage['factors'])[],
  secrets: ReturnType<typeof toServerSecrets>,
): Promise<{ resealed: number; unreadable: readonly string[] }> => {
  let resealed = 0
  const unreadable: string[] = []
  for (const repository of sealed) {
    const result = await resealKeys(repository, secrets)
    resealed += result.resealed
    unreadable.push(...result.unreadable)
  }
  return { resealed, unreadable }
}

/**
 * Adds a new server secret and reseals every key and the secrets of webhooks and authenticator apps with it. Old secrets stay in the file until they are dropped, because other instances need
 * them until they have reloaded the file.
 * @param options.sealed - The repositories of keys, webhooks and second factors.
 * @param options.file - The file of `KEYRAIL_SECRET_FILE`. Afterwards only its owner can read it.
 * @param options.drop - Adds no secret, but removes the old ones if no key needs them. @default false
 * @param options.waitMs - How long to wait for running services to reload the file before resealing, in milliseconds. @default 1500
 * @throws {ConfigError} if the file cannot be used, the newest secret has version 255, or an old one is still needed.
 */
export const rotateSecret = async ({
  sealed,
  file,
  drop = false,
  waitMs = defaultWaitMs,
}: {
  sealed: readonly (Storage['keys'] | Storage['webhooks'] | Storage['factors'])[]
  file: string
  drop?: boolean
  waitMs?: number
}): Promise<SecretRotation> => {
  const before = parseServerSecrets(readFileSync(file, 'utf8'))
  const version = before[0]?.version ?? 0
  if (drop) {
    const { resealed, unreadable } = await resealAll(sealed, toServerSecrets(before))
    if (unreadable.length > 0)
      throw new ConfigError([
        {
          path: 'KEYRAIL_SECRET_FILE',
          fix: `still needs its old secrets: no secret opens ${unreadable.length} of the keys`,
        },
      ])
    writeSecrets(file, before.slice(0, 1))
    return { version, resealed, unreadable, dropped: before.slice(1).map((one) => one.version) }
  }
  if (version >= maxVersion)
    throw new ConfigError([{ path: 'KEYRAIL_SECRET_FILE', fix: 'has version 255, which is the last one' }])
  const secrets = [{ version: version + 1, text: randomBytes(48).toString('base64url') }, ...before]
  writeSecrets(file, secrets)
  await setTimeout(waitMs)
  return { version: version + 1, ...(await resealAll(sealed, toServerSecrets(secrets))), dropped: [] }
}
