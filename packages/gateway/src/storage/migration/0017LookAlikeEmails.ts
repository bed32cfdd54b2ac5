import { foldEmails } from './0016EmailIdentities.ts'
import type { Migration } from './migration.ts'

/** Letters of other alphabets that look Latin are folded to the Latin ones. */
export const lookAlikeEmails: Migration = { version: 17, statements: () => [], run: foldEmails }
