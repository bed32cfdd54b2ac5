import type { Access } from './access.ts'
import type { Db } from './tables.ts'
import type { Write, WriteNow } from './write.ts'

/** A database that was opened: what each of the two kinds gives to `openStorage`. */
export interface OpenDatabase {
  readonly db: Db
  readonly write: Write
  readonly writeNow: WriteNow
  findAccess(hash: string): Access | undefined | Promise<Access | undefined>
  findAccessByKid(kid: string): Access | undefined | Promise<Access | undefined>
  /** Waits for what is in flight. May be called again. */
  close(): Promise<void>
}
