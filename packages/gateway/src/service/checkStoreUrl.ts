import { ConfigError } from './configError.ts'

/** What the URL of a store may look like. */
export interface StoreUrlForm {
  /** How it starts, in lower case. */
  readonly starts: readonly string[]
  readonly example: string
}

export const postgresUrl: StoreUrlForm = {
  starts: ['postgres://', 'postgresql://'],
  example: 'postgres://user:password@host:5432/keyrail',
}
export const redisUrl: StoreUrlForm = {
  starts: ['redis://', 'rediss://'],
  example: 'redis://user:password@host:6379/0',
}

/** Protocols of other stores and of the web. Any other text before a colon may be a part of a password, and is not repeated. */
const otherProtocols: ReadonlySet<string> = new Set([
  'amqp:',
  'cockroachdb:',
  'file:',
  'http:',
  'https:',
  'jdbc:',
  'mariadb:',
  'memcached:',
  'mongodb:',
  'mongodb+srv:',
  'mssql:',
  'mysql:',
  'oracle:',
  'postgres:',
  'postgresql:',
  'redis:',
  'rediss:',
  'sqlite:',
  'sqlite3:',
  'sqlserver:',
  'valkey:',
  'valkeys:',
  'ws:',
  'wss:',
])

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Checks the form of a store's URL, without connecting.
 * @param name - The environment variable that holds it.
 * @throws {ConfigError} if it cannot be used. The message repeats nothing of the URL but a known protocol.
 */
export const checkStoreUrl = (name: string, given: string, { starts, example }: StoreUrlForm): void => {
  const fault = (fix: string): ConfigError => new ConfigError([{ path: name, fix }])
  const url = URL.parse(given)
  if (url === null || !starts.some((start) => url.href.startsWith(start))) {
    const { protocol = '' } = url ?? {}
    const isKnown = otherProtocols.has(protocol) && !starts.includes(`${protocol}//`)
    throw fault(`must be a URL such as ${example}${isKnown ? `: the protocol ${protocol} is not supported` : ''}`)
  }
  if (![url.username, url.password, url.pathname].every((part) => isDecodable(part)))
    throw fault('has a % that is not part of an escape such as %40: write %25 for the character %')
}
