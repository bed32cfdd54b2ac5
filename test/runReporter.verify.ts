import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { run, top } from './run.ts'

const room = join(top, 'node_modules/.cache')
mkdirSync(room, { recursive: true })
// In the workspace, so that Vitest is found.
const folder = mkdtempSync(join(room, 'reporter-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

writeFileSync(
  join(folder, 'some.test.ts'),
  `import { describe, expect, test } from 'vitest'
import { needs } from '${top}/scripts/externalPrograms.ts'
describe('a suite', needs('redis-server'), () => {
  test('one', () => {})
  test.each([2, 3])('%d', needs('go'), () => {})
})
test('four', needs('go', 'redis-server'), () => {})
test('fine', () => console.log('passing tests print nothing'))
test.skip('for another reason', () => {})
if (process.env.FAILS) test('wrong', () => { console.log('failing tests print'); expect(1).toBe(2) })
`,
)
writeFileSync(
  join(folder, 'vitest.config.ts'),
  `import { requireAllPrograms } from '${top}/scripts/externalPrograms.ts'
requireAllPrograms()
export default { test: { reporters: ['minimal', '${top}/scripts/runReporter.ts'], silent: 'passed-only' } }
`,
)

const runTests = async (env: Readonly<Record<string, string>>) => {
  const { code, stdout, stderr } = await run(process.execPath, [join(top, 'node_modules/vitest/vitest.mjs'), 'run'], {
    cwd: folder,
    env: { KEYRAIL_TEST_ALL: '', KEYRAIL_TEST_BARE: '1', ...env },
  })
  return { code, stdout, stderr, all: stdout + stderr }
}

test('one block at the end has each missing program, the tests that were skipped for it, and how to get it', async () => {
  const { code, stdout, all } = await runTests({})
  expect(code, all).toBe(0)
  expect(stdout.slice(stdout.indexOf('Skipped, because')))
    .toBe(`Skipped, because this machine lacks programs. "npm run programs" prints the commands for all:
  redis-server 7.0      4 skipped  apt-get install redis-server
  go 1.21               3 skipped  apt-get install golang-go

tests: 1 passed, 0 failed, 5 skipped
`)
  expect(all).not.toContain('passing tests print nothing')
})

test('a failure keeps its text and output', async () => {
  const { code, stdout, all } = await runTests({ FAILS: '1' })
  expect(code).toBe(1)
  expect(all).toContain('failing tests print')
  expect(all).toContain('expected 1 to be 2')
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('tests: 1 passed, 1 failed, 5 skipped')
})

test('with KEYRAIL_TEST_ALL, one message before the first test lists every missing program', async () => {
  const { code, all } = await runTests({ KEYRAIL_TEST_ALL: '1' })
  expect(code).toBe(1)
  expect(all).toContain('- redis-server 7.0 is missing. To get it: apt-get install redis-server\n')
  expect(all).toContain('- helm 3.14 is missing. To get it: go install helm.sh/')
  expect(all).not.toContain('tests:')
})
