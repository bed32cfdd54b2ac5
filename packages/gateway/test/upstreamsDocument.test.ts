import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failureRules } from '../src/proxy/upstream/failureRules.ts'

const page = readFileSync(join(import.meta.dirname, '../../../docs/service/upstreams.md'), 'utf8')

/** The rows of the table of failures: the kind, and whether another node is tried and it counts against the node. */
const rows = [...page.matchAll(/^\|[^|]+\| `(\w+)` +\| (yes|no)[^|]*\| (yes|no)[^|]*\|$/gm)].map(
  ([, kind = '', other, against]) => [kind, other, against],
)

test('the table of failures in docs/service/upstreams.md says what the service does, in its order', () => {
  expect(rows).toEqual(
    Object.entries(failureRules).map(([kind, { retry, about }]) => [
      kind,
      // Only writes end this way.
      retry === 'otherNode' && kind !== 'unconfirmed' ? 'yes' : 'no',
      about === 'node' ? 'yes' : 'no',
    ]),
  )
})
