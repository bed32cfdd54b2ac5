import { isStorageError } from '../errors/storageError.ts'
import type { StorageError } from '../errors/storageError.ts'
import type { StorageOptions } from '../storage/openStorage.ts'
import { ConfigError } from './configError.ts'

/** Reasons why PostgreSQL cannot be opened, by SQLSTATE or Node's error code. */
const postgresReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its host and port',
  ECONNRESET: 'the server closed the connection: is it PostgreSQL?',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its host cannot be reached',
  ETIMEDOUT: 'its host does not respond',
  ENOTFOUND: 'its host is unknown',
  EAI_AGAIN: 'its host cannot be looked up',
  ENOENT: 'a socket or a certificate file that it names does not exist',
  EACCES: 'this user may not open a socket or a certificate file that it names',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate of the server is not trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the server is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate of the server is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of the server is not trusted',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the server is for another host',
  '08P01':
    "the server rejects the connection's parameters: for a pooler in transaction mode, set postgres.transactionPooler",
  '25006': 'the database is read-only: use the primary server',
  '28000': 'the server does not accept this user from here',
  '28P01': 'its user or password is wrong',
  '3D000': 'the server has no such database',
  '42501': 'its user may not create tables: grant it CREATE on the schema',
  '53100': 'the disk of the server is full',
  '53300': 'the server has no connection left',
  '57P03': 'the server is starting or stopping',
}

/** Reasons why an SQLite file cannot be opened, by SQLite's primary result code or Node's error code. */
const sqliteReasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not open or create it',
  EPERM: 'this user may not open or create it',
  EISDIR: 'it is a folder',
  ENOENT: 'its folder does not exist and cannot be created',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  'SQLite 8': 'it or its folder is read-only',
  'SQLite 10': 'the disk reports an error',
  'SQLite 11': 'it is damaged: restore a backup',
  'SQLite 13': 'the disk is full',
  'SQLite 14': 'it cannot be opened',
  'SQLite 26': 'it is not an SQLite database',
}

const sqlitePrefix = 'SQLite '

/** Reduces an extended SQLite result code to its low byte, the primary code. */
const toPrimaryCode = (code: string): string =>
  code.startsWith(sqlitePrefix) ? `${sqlitePrefix}${Number(code.slice(sqlitePrefix.length)) & 0xff}` : code

/** The reason in words, with the code. The message of a {@link StorageError} contains no part of a URL. */
const formatReason = ({ code, message }: StorageError, isFile: boolean): string => {
  if (code === undefined) return message
  const reason = isFile ? sqliteReasons[toPrimaryCode(code)] : postgresReasons[code]
  return reason === undefined ? message : `${reason} (${code})`
}

/**
 * Turns an error of `openStorage` into a config error that names the setting and the reason.
 * @returns The config error. Other errors, and the error for a database that is in use, are returned unchanged.
 */
export const asStorageConfigError = (error: unknown, storage: StorageOptions): unknown => {
  if (!isStorageError(error) || error.fault === 'busy') return error
  const isFile = 'file' in storage
  return new ConfigError([
    { path: isFile ? 'storage.file' : 'DATABASE_URL', fix: `cannot be used: ${formatReason(error, isFile)}` },
  ])
}
