/** What failed: Redis, PostgreSQL, an SQLite file, or another file. */
export type CauseOf = 'redis' | 'postgres' | 'sqlite' | 'file'

/** Of a connection, by Node's error code. */
const connection: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its host and port: start the server, or correct the URL',
  ECONNRESET: 'the server closed the connection: check that the URL names the right server and protocol',
  EPIPE: 'the server closed the connection: check that the URL names the right server and protocol',
  EHOSTUNREACH: 'its host cannot be reached: check the network',
  ENETUNREACH: 'its host cannot be reached: check the network',
  ETIMEDOUT: 'its host does not respond: check the network and the firewall',
  ENOTFOUND: 'its host is unknown: correct the URL',
  EAI_AGAIN: 'its host cannot be looked up: check the DNS server of this machine',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS to that of its issuer',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS to it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS to that of its issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS to that of its issuer',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired: renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host: correct the URL',
  timeout: 'it does not respond in time: check its load and the network',
}

/** Of a file, by Node's error code. */
const file: Readonly<Record<string, string>> = {
  EACCES: 'this user may not open or create it: check its permissions and those of its folder',
  EPERM: 'this user may not open or create it: check its permissions and those of its folder',
  EISDIR: 'it is a folder: name a file',
  ENOENT: 'its folder does not exist: create it, or correct the path',
  ENOSPC: 'the disk is full: free some space',
  EDQUOT: 'the disk quota is used up: free some space',
  EFBIG: 'it is larger than this user may write: raise the limit',
  EIO: 'the disk reports an error: check the disk',
  ENOTDIR: 'a part of its path is not a folder: correct the path',
  EEXIST: 'a part of its path is not a folder: correct the path',
  EROFS: 'the file system is read-only: use another one',
  EMFILE: 'this process has too many open files: raise its limit (ulimit -n)',
  ENFILE: 'the machine has too many open files: raise its limit',
}

/** What each code means and how to fix it, by what failed. The docs site has a page of it. */
export const causes: Readonly<Record<CauseOf, Readonly<Record<string, string>>>> = {
  // The first word of an error reply. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
  redis: {
    ...connection,
    closed:
      'no node of it accepts a connection: check that they run, and correct the hosts, user and password of REDIS_URL',
    WRONGPASS: 'its user or password is wrong: correct REDIS_URL',
    NOAUTH: 'it needs a password: add it to REDIS_URL',
    NOPERM: 'its user may not run a command: grant it read, write, pub/sub and scripts on kr:*',
    OOM: 'its memory is full: give it more, and set maxmemory-policy to noeviction',
    MISCONF: 'it cannot save to its disk: check the disk of the server',
    READONLY: 'it is a replica: use the URL of the primary',
    LOADING: 'it is starting: wait until it has loaded its data',
    MASTERDOWN: 'it is a replica without a primary: check the primary',
    CLUSTERDOWN: 'a part of the cluster is down: check its nodes',
  },
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  postgres: {
    ...connection,
    ENOENT: 'a socket or a certificate file that it names does not exist: correct the URL',
    EACCES: 'this user may not open a socket or a certificate file that it names: check its permissions',
    '08P01':
      "the server rejects the connection's parameters: for a pooler in transaction mode, set postgres.transactionPooler",
    '25006': 'the database is read-only: use the primary server',
    '28000': 'the server does not accept this user from here: check its pg_hba.conf',
    '28P01': 'its user or password is wrong: correct it',
    '3D000': 'the server has no such database: create it, or correct the URL',
    '42501': 'its user may not create tables: grant it CREATE on the schema',
    '53100': 'the disk of the server is full: free some space there',
    '53300': 'the server has no connection left: raise its max_connections, or lower postgres.maxConnections',
    '57P01': 'the server closed the connection: check whether it is stopping',
    '57P03': 'the server is starting or stopping: wait, or start it',
  },
  // https://sqlite.org/rescode.html
  sqlite: {
    ...file,
    timeout: 'the disk does not respond in time: check the disk',
    'SQLite 5': 'another process has locked it for too long: stop that process',
    'SQLite 8': 'it or its folder is read-only: check its permissions',
    'SQLite 10': 'the disk reports an error: check the disk',
    'SQLite 11': 'it is damaged: restore a backup',
    'SQLite 13': 'the disk is full: free some space',
    'SQLite 14': 'it cannot be opened: check its path and its permissions',
    'SQLite 26': 'it is not an SQLite database: correct the path',
  },
  file,
}

const sqlitePrefix = 'SQLite '

/** Reduces an extended SQLite result code to its low byte, the primary code. */
const toPrimaryCode = (code: string): string =>
  code.startsWith(sqlitePrefix) ? `${sqlitePrefix}${Number(code.slice(sqlitePrefix.length)) & 0xff}` : code

/**
 * Describes the cause of a failure: what happened, and what to do.
 * @param of - What failed.
 * @param code - An SQLSTATE, an SQLite result code, the first word of an error of Redis, or a code of Node.
 * @returns Continues a sentence about what failed; `undefined` for an unknown code.
 * @example
 * describeCause('redis', 'WRONGPASS') // 'its user or password is wrong: correct REDIS_URL'
 */
export const describeCause = (of: CauseOf, code: string): string | undefined => {
  const known = causes[of]
  const primary = toPrimaryCode(code)
  return Object.hasOwn(known, primary) ? known[primary] : undefined
}

/**
 * The same with the code, for error messages.
 * @example
 * formatCause('file', 'ENOSPC') // 'the disk is full (ENOSPC): free some space'
 */
export const formatCause = (of: CauseOf, code: string): string | undefined =>
  describeCause(of, code)?.replace(/(?=: )/, ` (${code})`)

/**
 * Gets the code of an error of Redis, which is safe to log: the first word of an error reply, or a code of Node. The rest may contain addresses.
 * @returns `undefined` for an unknown error.
 */
export const getRedisCode = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  // A cluster without a node that responds.
  if ('lastNodeError' in error && error.lastNodeError !== undefined) return getRedisCode(error.lastNodeError)
  // The message of ioredis for each failure of a node of a cluster.
  if (error.message === 'Connection is closed.') return 'closed'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.message.split(' ', 1)[0]
  return code !== undefined && Object.hasOwn(causes.redis, code) ? code : undefined
}
