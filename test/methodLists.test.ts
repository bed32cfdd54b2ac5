import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { methodTable } from '../scripts/methodSlices.ts'

// Facts about methods belong in the table, core/src/schema/methods.json. Otherwise a second list of the same fact appears, and the two disagree.

const top = join(import.meta.dirname, '..')
const namespaces = [...new Set(Object.keys(methodTable).map((name) => name.split('_')[0]))].join('|')

/** The name of a method in quotes, as an element, a key, a case of a switch, or an operand. */
const quoted = `['"\`](?:${namespaces})_[A-Za-z0-9]+['"\`]`
/** What may be between two names of a list: punctuation, numbers, comments, a short word. */
const between = String.raw`(?:\s|[,:;|(){}\[\]=?.&-]|\d|//[^\n]*\n|/\*[^*]*\*/|#[^\n]*\n|\b[A-Za-z]{1,12}\b)*`
/** The name of a method as the key of an object. */
const key = `(?<=[{,\\n]\\s*)(?:${namespaces})_[A-Za-z0-9]+(?=\\s*:)`
/** The names of one alternation of a regular expression. */
const alternation = new RegExp(`[\\^(?:]+(?:${namespaces})_[^\\s'"\`/]*\\|[^\\s'"\`]*`, 'g')

const lists = [new RegExp(`(?:${quoted}${between}){4,}`, 'g'), new RegExp(`(?:${key}\\s*:[^,\\n]{0,80},\\s*){4,}`, 'g')]

/** Finds the lists of more than three names of methods in a source text. */
const findLists = (source: string): string[] => [
  ...lists.flatMap((list) => [...source.matchAll(list)].map(([text]) => text.slice(0, 120))),
  ...[...source.matchAll(alternation)].map(([text]) => text).filter((text) => text.split('|').length > 3),
]

/** The table and its slices, the types of the schema, and code that makes such calls: mocks, snippets, benchmarks and examples. */
const exempt = new RegExp(
  [
    '^packages/core/src/schema/',
    'methodSlice\\.ts$',
    '^packages/(?:bench|msw|snippets|vectors|create-keyrail|contracts)/',
    '^packages/python/src/keyrail/testing/',
    // The methods with which the service follows a chain, and how large their responses may be.
    '^packages/gateway/src/proxy/subscription/chain/',
    '^packages/dashboard/src/run/exampleCalls\\.ts$',
    '^packages/cli/src/node/seedChain\\.ts$',
    '^(?:examples|docs|test|scripts)/',
    '/tests?/',
    '\\.(?:test|test-d|verify)\\.tsx?$',
  ].join('|'),
)

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: top,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(?:ts|tsx|mjs|js|py)$/.test(path) && !exempt.test(path))

test('no source file but the table has a list of more than three methods', () => {
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((path) =>
    findLists(readFileSync(join(top, path), 'utf8')).map((text) => `${path}: ${text}`),
  )
  expect(found).toEqual([])
})

test.each([
  ['an array', "['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getLogs']"],
  ['an array of pairs', "[['eth_call', 1],\n ['eth_getBalance', 1], ['eth_getCode', 1], ['eth_getLogs', 0]]"],
  ['a set with comments', "new Set(['eth_call', // a\n 'eth_getBalance', /* b */ 'eth_getCode', 'eth_getLogs'])"],
  ['a map by name', '{\n  eth_call: 1,\n  eth_getBalance: check(1),\n  eth_getCode: 1,\n  eth_getLogs: 0,\n}'],
  ['a switch', "case 'eth_call': case 'eth_getBalance': return 1\ncase 'eth_getCode': case 'eth_getLogs': return 2"],
  [
    'comparisons',
    "method === 'a' || method === 'eth_call' || method === 'eth_getCode' || m === 'eth_getLogs' || m === 'eth_sign'",
  ],
  ['a regular expression', '/^eth_(?:call|getCode|getLogs|getBalance)$/'],
  ['a set in Python', 'frozenset({"eth_call", "eth_getBalance", "eth_getCode", "eth_getLogs"})'],
  [
    'a dict in Python',
    '{\n    "eth_call": 1,\n    "eth_getBalance": 1,\n    "eth_getCode": 1,\n    "eth_getLogs": 0,\n}',
  ],
])('%s of four methods is a list', (_, source) => {
  expect(findLists(source)).toHaveLength(1)
})

test('three methods, and calls of methods, are no list', () => {
  expect(findLists("['eth_call', 'eth_getBalance', 'eth_getCode']")).toEqual([])
  const call = "await send({ method: 'eth_call', params: [{ to: address }, 'latest'] })\n"
  expect(findLists(call.repeat(5))).toEqual([])
})
