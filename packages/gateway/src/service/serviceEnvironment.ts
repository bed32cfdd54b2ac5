import type { StorageOptions } from '../storage/openStorage.ts'
import { parseRedisUrl } from '../storage/redis/parseRedisUrl.ts'
import { ConfigError } from './configError.ts'
import { readServerSecrets } from './readServerSecrets.ts'
import type { ServerSecrets } from './readServerSecrets.ts'
import type { ServiceConfig } from './serviceConfig.ts'

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of a service from its environment. */
export interface ServiceEnvironment {
  /** The newest secret seals API keys. */
  readonly secrets: ServerSecrets
  readonly storage: StorageOptions
  /** Redis shares rate limits between instances and notifies them of changes. One server, a cluster or Sentinel: see `parseRedisUrl`. A secret. */
  readonly redisUrl?: string | undefined
  /** A Redis of its own has what the chain store has, for all instances. In the same forms. A secret. */
  readonly cacheRedisUrl?: string | undefined
  /** Grants operator permissions. At least 32 characters. A secret. */
  readonly operatorToken?: string | undefined
}

/**
 * Reads the secrets and the URLs of the stores from the environment.
 * @throws {ConfigError} if one of them is missing or cannot be used. The message contains no secret and no URL.
 */
export const readServiceEnvironment = (
  config: Pick<ServiceConfig, 'storage' | 'cache'>,
  environment: Environment,
): ServiceEnvironment => {
  const cacheRedisUrl = environment['CACHE_REDIS_URL'] || undefined
  checkChainStore(config, cacheRedisUrl)
  const settings = {
    secrets: readServerSecrets(environment),
    storage: toStorageOptions(config, environment),
    redisUrl: environment['REDIS_URL'] || undefined,
    cacheRedisUrl,
    operatorToken: environment['KEYRAIL_OPERATOR_TOKEN'] || undefined,
  }
  checkCredentials(settings)
  return settings
}

/** Checks that the chain store has one place. */
const checkChainStore = ({ cache }: Pick<ServiceConfig, 'cache'>, cacheRedisUrl: string | undefined): void => {
  if (cacheRedisUrl !== undefined && cache?.file !== undefined)
    throw new ConfigError([
      {
        path: 'CACHE_REDIS_URL',
        fix: 'and cache.file are both set, but the chain store is either in Redis or in a file: remove one of them',
      },
    ])
  if (cacheRedisUrl === undefined && cache !== undefined && cache.file === undefined)
    throw new ConfigError([
      {
        path: 'cache.file',
        fix: 'is missing: set it to the path of the file of the chain store, or set CACHE_REDIS_URL to the URL of a Redis',
      },
    ])
}

/**
 * The storage of the service: the PostgreSQL database of `DATABASE_URL`, else the SQLite file of `storage.file`.
 * @throws {ConfigError} if both are missing, or `DATABASE_URL` is not a PostgreSQL URL. The message does not contain the URL.
 */
export const toStorageOptions = (
  { storage }: Pick<ServiceConfig, 'storage'>,
  environment: Environment,
): StorageOptions => {
  const { DATABASE_URL: databaseUrl = '' } = environment
  if (databaseUrl !== '') {
    checkStoreUrl('DATABASE_URL', databaseUrl, postgresUrl)
    return { databaseUrl }
  }
  if (storage !== undefined) return storage
  throw new ConfigError([
    {
      path: 'storage.file',
      fix: 'is missing: set it to the path of an SQLite file, or set DATABASE_URL to a PostgreSQL URL',
    },
  ])
}

const minOperatorTokenLength = 32

/**
 * Checks the Redis URLs and the operator token before the storage is opened.
 * @throws {ConfigError} The message contains neither of them.
 */
export const checkCredentials = ({
  redisUrl,
  cacheRedisUrl,
  operatorToken,
}: Pick<ServiceEnvironment, 'redisUrl' | 'cacheRedisUrl' | 'operatorToken'>): void => {
  if (redisUrl !== undefined) checkRedisUrl('REDIS_URL', redisUrl)
  if (cacheRedisUrl !== undefined) checkRedisUrl('CACHE_REDIS_URL', cacheRedisUrl)
  if (operatorToken !== undefined && operatorToken.length < minOperatorTokenLength)
    throw new ConfigError([
      {
        path: 'KEYRAIL_OPERATOR_TOKEN',
        fix: `must have at least ${minOperatorTokenLength} characters: create one with openssl rand -base64 48`,
      },
    ])
}

/** The form of a store's URL. */
interface StoreUrlForm {
  /** Accepted prefixes, in lower case. */
  readonly prefixes: readonly string[]
  readonly example: string
}

const postgresUrl: StoreUrlForm = {
  prefixes: ['postgres://', 'postgresql://'],
  example: 'postgres://user:password@host:5432/keyrail',
}

/** Protocols that an error message may name. Any other text before a colon could be part of a password. */
const knownProtocols: ReadonlySet<string> = new Set([
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

/** Names the protocol of a URL if it is a known one that is not supported. */
const describeProtocol = (text: string, prefixes: readonly string[]): string => {
  const protocol = URL.parse(text)?.protocol ?? ''
  const isUnsupported = knownProtocols.has(protocol) && !prefixes.includes(`${protocol}//`)
  return isUnsupported ? `: the protocol ${protocol} is not supported` : ''
}

/** Checks the form of a Redis URL without connecting. */
const checkRedisUrl = (variable: string, text: string): void => {
  try {
    parseRedisUrl(text)
  } catch (error) {
    const fix = error instanceof Error ? error.message.replace(/^redisUrl /, '') : ''
    throw new ConfigError([{ path: variable, fix: `${fix}${describeProtocol(text, ['redis://', 'rediss://'])}` }])
  }
}

/** Checks the form of a URL without connecting. */
const checkStoreUrl = (variable: string, text: string, { prefixes, example }: StoreUrlForm): void => {
  const fault = (fix: string): ConfigError => new ConfigError([{ path: variable, fix }])
  const url = URL.parse(text)
  if (url === null || !prefixes.some((prefix) => url.href.startsWith(prefix))) {
    throw fault(`must be a URL such as ${example}${describeProtocol(text, prefixes)}`)
  }
  if (![url.username, url.password, url.pathname].every((part) => isDecodable(part)))
    throw fault('has a % that is not part of an escape such as %40: write %25 for the character %')
}
