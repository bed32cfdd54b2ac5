import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A conversation of the execution-apis tests. */
export interface Conversation {
  /** The method and the name of the file. */
  readonly name: string
  /** The bodies of the requests, in order. */
  readonly requests: readonly string[]
}

/**
 * Reads the conversations of a folder in the order of their names.
 * @param tests - The folder `tests` of execution-apis.
 */
export const readConversations = (tests: string): Conversation[] =>
  globSync('*/*.io', { cwd: tests })
    .toSorted()
    .map((name) => ({
      name: name.replace(/[.]io$/, ''),
      requests: parseRequests(readFileSync(join(tests, name), 'utf8')),
    }))

/** Gets the requests of a conversation: its lines that start with `>>`. */
export const parseRequests = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('>> ') ? [line.slice(3)] : []))
