import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createApiKey } from '../src/lib/secrets/apiKey.ts'
import { createStoredKeys } from '../src/auth/key/createStoredKeys.ts'
import { hashApiKey } from '../src/lib/secrets/hashApiKey.ts'
import { createMeter } from '../src/usage/metering/createMeter.ts'
import { createLocalLimits } from '../src/usage/limits/createLocalLimits.ts'
import { openStorage } from '../src/storage/openStorage.ts'
import { createTestGateway } from './createTestGateway.ts'

const keysPerUser = 4

/** Writes users with four keys each, in one transaction. The first `used` keys are real; the others are only random hashes. */
const addKeys = (file: string, { stored, used }: { stored: number; used: number }): readonly string[] => {
  const database = new DatabaseSync(file)
  const addUser = database.prepare(
    `insert into users (id, email, email_folded, password, state, role, created_at) values (?, ?, ?, 'x', 'active', 'user', 0)`,
  )
  const addKey = database.prepare(
    `insert into keys (id, user_id, kind, slot, name, description, sha256, ending, state, version, created_at)
     values (?, ?, 'testnet', ?, 'k', '', ?, 'abcd', 'active', 1, 0)`,
  )
  const keys: string[] = []
  database.exec('begin')
  for (let at = 0; at < stored; at += 1) {
    const user = `usr_${Math.floor(at / keysPerUser)}`
    const slot = at % keysPerUser
    if (slot === 0) addUser.run(user, `${user}@example.org`, `${user}@example.org`)
    let hash: Buffer
    if (at < used) {
      const key = createApiKey('testnet')
      keys.push(key)
      hash = Buffer.from(hashApiKey(key), 'hex')
    } else hash = randomBytes(32)
    addKey.run(`key_${at}`, user, slot + 1, hash)
  }
  database.exec('commit')
  database.close()
  return keys
}

/**
 * Starts a gateway with a storage of many keys, for a benchmark: with rate limits and quotas, and optionally with metering.
 * @param options.stored - How many keys there are. The paths of the first `used` ones are returned.
 */
export const startManyKeys = async (options: {
  upstream: string
  stored: number
  used: number
  metering: boolean
}): Promise<{ url: string; paths: readonly string[] }> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-many-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keyrail.db')
  await (await openStorage({ file })).close()
  const keys = addKeys(file, options)
  const storage = await openStorage({ file })
  const most = 1_000_000_000
  const network = { chainId: 1, upstreams: [{ url: options.upstream }] }
  const gateway = createTestGateway({
    networks: { testnet: network, mainnet: network },
    keys: createStoredKeys({
      storage,
      getLimits: () => ({ perSecond: 1_000_000, burst: 100_000, perDay: most, perMonth: most }),
    }),
    usageLimits: createLocalLimits({ storage }),
    ...(options.metering ? { meter: createMeter({ storage }) } : {}),
    logRequests: false,
  })
  const { url } = await gateway.listen()
  return { url, paths: keys.map((key) => `/testnet/${key}`) }
}
