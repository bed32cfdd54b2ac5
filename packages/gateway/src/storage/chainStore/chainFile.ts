import { hash, randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { constants, crc32, deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { getErrcode } from '../sqlite/sqliteError.ts'

/** Another version has other tables: the file starts empty. */
const version = 4

const tables = `
create table about(salt blob not null);
create table sources(id integer primary key, chain text not null, name text not null, node blob not null,
  independent blob not null, unique(chain, node));
create table spans(f blob not null, last integer not null, first integer not null, value integer not null,
  source integer not null, day integer not null, crc integer not null, primary key(f, last)) without rowid;
create index spans_day on spans(day);
create index spans_source on spans(source);
create table logs(id integer primary key autoincrement, value blob not null);
create table unconfirmed(f blob not null, last integer not null, first integer not null, value integer not null,
  source integer not null, at integer not null, address text not null, topics text not null, crc integer not null,
  primary key(f, last)) without rowid;
create index unconfirmed_source on unconfirmed(source, at);
create index unconfirmed_at on unconfirmed(at);
create table entries(number integer primary key autoincrement, id blob not null unique, source integer not null,
  block integer not null, unconfirmed integer not null, day integer not null, value blob not null, call text);
create index entries_day on entries(day);
create index entries_source on entries(source);
create index entries_call on entries(source, number) where call is not null;
create table chains(chain text primary key, epoch text not null, genesis text not null, revision integer not null);
create table checkpoints(chain text not null, number integer not null, hash text not null, primary key(chain, number)) without rowid;
`

/** A file of the chain store that this process has open. */
export interface ChainFile {
  readonly database: DatabaseSync
  /** Gets the key of a text. The salt of the file makes keys that nobody outside can compute. */
  readonly toKey: (text: string) => Buffer
}

/** SQLite's result codes of a damaged file: `SQLITE_CORRUPT`, `SQLITE_NOTADB`. */
const damageCodes: ReadonlySet<number> = new Set([11, 26])

/** Whether an error says that a file is damaged. */
export const isDamage = (error: unknown): boolean => damageCodes.has((getErrcode(error) ?? 0) & 0xff)

/** How long to wait for another process that writes, in milliseconds. Only threads of their own wait. */
const waitMs = 10_000

/** The message of an error: the file is of another version, and may not be replaced. */
export const otherVersion = 'the file is of another version'

/** The message of an error: the file belongs to another program, or is the database of the service. */
export const otherFile = 'the file is not of a chain store'

const getTables = (database: DatabaseSync): readonly string[] =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
    .all()
    .map(({ name }) => String(name))

const createTables = (database: DatabaseSync, mayReplace: boolean): void => {
  database.exec('begin immediate')
  const { user_version: found } = database.prepare('pragma user_version').get() as { user_version: number }
  if (found !== version) {
    if (found !== 0 && !mayReplace) throw new Error(otherVersion)
    for (const name of getTables(database)) database.exec(`drop table "${name}"`)
    database.exec(tables)
    database.prepare('insert into about(salt) values (?)').run(randomBytes(16))
    database.exec(`pragma user_version = ${version}`)
  }
  database.exec('commit')
}

/**
 * Opens a file, and creates its tables if it is to be written.
 * @param options.mayReplace - Whether a file of another version starts empty. @default true
 * @throws SQLite's error; `otherFile` or `otherVersion`, and then nothing in the file was changed.
 */
export const openChainFile = (
  file: string,
  { readOnly, mayReplace = true }: { readonly readOnly: boolean; readonly mayReplace?: boolean | undefined },
): ChainFile => {
  const database = new DatabaseSync(file, { readOnly, timeout: waitMs })
  try {
    // A page that cannot be read is an error of a call with `mmap_size` 0, and the end of the process without.
    database.exec('pragma mmap_size = 0')
    if (!readOnly) {
      const names = getTables(database)
      if (names.length > 0 && !(names.includes('about') && names.includes('spans'))) throw new Error(otherFile)
      database.exec('pragma page_size = 8192')
      database.exec('pragma journal_mode = wal')
      // What a power cut takes is asked of a node again.
      database.exec('pragma synchronous = normal')
      createTables(database, mayReplace)
    }
    const { salt } = database.prepare('select salt from about').get() as { salt: Uint8Array }
    const start = Buffer.from(salt).toString('hex')
    return { database, toKey: (text) => hash('sha256', start + text, 'buffer').subarray(0, 16) }
  } catch (error) {
    database.close()
    throw error
  }
}

/** The checksum of a row, which also says whose row it is. */
export const toRowCrc = (f: Uint8Array, ...values: readonly (number | string)[]): number =>
  crc32(values.join(), crc32(f))

/** A smaller value is not worth the time to compress it. */
const minCompressedBytes = 1_024
const headBytes = 5
/** How a value is written. To start zstd takes longer than to inflate a small value. */
const forms = { plain: 0, zstd: 1, deflate: 2 } as const
const minZstdBytes = 8_192

const compress = (value: Uint8Array): { readonly form: number; readonly bytes: Uint8Array } => {
  if (value.length < minCompressedBytes) return { form: forms.plain, bytes: value }
  if (value.length < minZstdBytes) return { form: forms.deflate, bytes: deflateRawSync(value, { level: 1 }) }
  const params = { [constants.ZSTD_c_compressionLevel]: 1 }
  return { form: forms.zstd, bytes: zstdCompressSync(value, { params }) }
}

/**
 * Packs a value with its checksum.
 * @param seed - A checksum of what it belongs to: a value in another place is damaged.
 */
export const packValue = (value: Uint8Array, seed: number): Buffer => {
  const { form, bytes } = compress(value)
  const packed = Buffer.allocUnsafe(headBytes + bytes.length)
  packed.writeUInt8(form, 4)
  packed.set(bytes, headBytes)
  packed.writeUInt32LE(crc32(packed.subarray(4), seed))
  return packed
}

/** Logs are cut into values of about 32 kB, which are then unpacked into one buffer: with several, that takes a fifth longer. */
const chunkSize = 40 * 1_024
/** No value is larger. A damaged one may claim any size. */
const maxValueBytes = 512 * 1024 * 1024

/** Unpacks a value. @returns `undefined` if it is damaged. */
export const unpackValue = (given: Uint8Array, seed: number): Buffer | undefined => {
  const packed = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  if (packed.length < headBytes || packed.readUInt32LE() !== crc32(packed.subarray(4), seed)) return undefined
  const bytes = packed.subarray(headBytes)
  if (packed[4] === forms.plain) return bytes
  const unpack = packed[4] === forms.zstd ? zstdDecompressSync : inflateRawSync
  return unpack(bytes, { chunkSize, maxOutputLength: maxValueBytes })
}

/** A row of `spans`, or the part of one of `unconfirmed` that both have. */
export interface SpanRow {
  readonly f: Uint8Array
  readonly first: number
  readonly last: number
  /** The id of its logs; 0 if it has none. */
  readonly value: number
  readonly source: number
  readonly day: number
  readonly crc: number
}

/** Whether a row is as it was written. */
export const isIntact = ({ f, first, last, value, source, crc }: SpanRow): boolean =>
  first <= last && crc === toRowCrc(f, first, last, value, source)

/** The seed of the logs of a span. */
export const toLogsSeed = (f: Uint8Array, first: number, last: number): number => toRowCrc(f, 'logs', first, last)

/** A row of `entries`. */
export interface EntryRow {
  readonly source: number
  readonly block: number
  /** When its node sent it, if another one has to confirm it; 0 if it is confirmed. */
  readonly unconfirmed: number
  readonly day: number
  readonly value: Uint8Array
}

/** The seed of an entry. */
export const toEntrySeed = (id: Uint8Array, { source, block, unconfirmed }: Omit<EntryRow, 'day' | 'value'>): number =>
  toRowCrc(id, 'entry', source, block, unconfirmed)
