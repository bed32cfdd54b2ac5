/** A host and its port. */
export interface RedisHost {
  readonly host: string
  readonly port: number
}

interface Credentials {
  readonly username?: string
  readonly password?: string
}

/** One Redis server. */
export interface RedisServer extends Credentials {
  readonly kind: 'server'
  readonly url: string
}

/** A Redis Cluster. */
export interface RedisCluster extends Credentials {
  readonly kind: 'cluster'
  readonly isTls: boolean
  /** Some of the nodes, through which the others are found. */
  readonly nodes: readonly RedisHost[]
}

/** A Redis master with replicas, watched by Sentinel. */
export interface RedisSentinel extends Credentials {
  readonly kind: 'sentinel'
  readonly isTls: boolean
  readonly sentinels: readonly RedisHost[]
  readonly masterName: string
  readonly database: number
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
}

/** The parts of a Redis URL. */
export type RedisTarget = RedisServer | RedisCluster | RedisSentinel

/** The forms of a Redis URL, for error messages. */
export const redisUrlForms =
  'redis://user:password@host:6379/0, redis+cluster://user:password@host1:6379,host2:6379 or redis+sentinel://user:password@host1:26379,host2:26379/mymaster/0'

const form = /^(redis|rediss)(?:\+(cluster|sentinel))?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/i
const defaultPorts = { cluster: 6379, sentinel: 26_379 }
const sentinelParameters: ReadonlySet<string> = new Set(['sentinel_username', 'sentinel_password'])

const fault = (fix: string): TypeError => new TypeError(`redisUrl ${fix}`)

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw fault('has a % that is not part of an escape such as %40: write %25 for the character %')
  }
}

const parseCredentials = (text = ''): Credentials => {
  const [username = '', ...password] = text.split(':')
  return {
    ...(username === '' ? {} : { username: decode(username) }),
    ...(password.length === 0 ? {} : { password: decode(password.join(':')) }),
  }
}

const parseHost = (text: string, defaultPort: number): RedisHost => {
  const url = URL.parse(`redis://${text}`)
  if (url === null || url.hostname === '') throw fault('has a host that is not of the form host or host:port')
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || defaultPort) }
}

const parseSentinel = (
  path: string,
  query: string,
): Pick<RedisSentinel, 'masterName' | 'database'> & Partial<RedisSentinel> => {
  const [, masterName = '', database = '0', ...rest] = path.split('/')
  if (masterName === '')
    throw fault(
      'has no master name: add the one that Sentinel knows, as in redis+sentinel://host1:26379,host2:26379/mymaster/0',
    )
  if (!/^\d+$/.test(database || '0') || rest.length > 0)
    throw fault('has a path that is not of the form /mymaster or /mymaster/0')
  const parameters = new URLSearchParams(query)
  if ([...parameters.keys()].some((name) => !sentinelParameters.has(name)))
    throw fault('has an unknown parameter: Sentinel accepts sentinel_username and sentinel_password')
  const [sentinelUsername, sentinelPassword] = [...sentinelParameters].map((name) => parameters.get(name) ?? undefined)
  return {
    masterName: decode(masterName),
    database: Number(database),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
  }
}

/**
 * Parses a Redis URL in one of three forms. `rediss` in place of `redis` uses TLS. Characters such as `@` or `/` in a password are escaped with `%`.
 * - `redis://user:password@host:6379/0`: one server.
 * - `redis+cluster://user:password@host1:6379,host2:6379`: a cluster, found through any of these nodes.
 * - `redis+sentinel://user:password@host1:26379,host2:26379/mymaster/0`: the master that Sentinel knows by this name. User and password are
 *   those of Redis. Sentinels with a password of their own get it from the parameters `sentinel_username` and `sentinel_password`.
 * @param text - A secret.
 * @throws {TypeError} If it is none of them. The message contains no part of it.
 */
export const parseRedisUrl = (text: string): RedisTarget => {
  const [, scheme = '', kind, userInfo, hosts = '', path = '', query = ''] = form.exec(text) ?? []
  if (scheme === '') throw fault(`must be a URL such as ${redisUrlForms}`)
  const credentials = parseCredentials(userInfo)
  if (kind === undefined) {
    if (hosts.includes(','))
      throw fault('has several hosts: write redis+cluster:// for a cluster, or redis+sentinel:// for Sentinel')
    if (!URL.canParse(text)) throw fault(`must be a URL such as ${redisUrlForms}`)
    decode(path)
    return { kind: 'server', url: text, ...credentials }
  }
  const type = kind.toLowerCase() as 'cluster' | 'sentinel'
  const parsedHosts = hosts.split(',').map((host) => parseHost(host, defaultPorts[type]))
  const isTls = scheme.toLowerCase() === 'rediss'
  if (type === 'sentinel')
    return { kind: type, isTls, sentinels: parsedHosts, ...credentials, ...parseSentinel(path, query) }
  if (!['', '/', '/0'].includes(path)) throw fault('has a database: a cluster only has database 0, so leave it out')
  if (query !== '') throw fault('has parameters: a cluster accepts none')
  return { kind: type, isTls, nodes: parsedHosts, ...credentials }
}
