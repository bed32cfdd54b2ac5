import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const top = join(import.meta.dirname, '../../..')

test('the tests of examples/dapp-testing pass when started as in its README', async () => {
  const vitest = join(top, 'node_modules/vitest/vitest.mjs')
  // The variables of this vitest run must not reach the nested one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|TEST$)/.test(name)),
  )
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'run'], {
    cwd: join(top, 'examples/dapp-testing'),
    env: { ...env, NO_COLOR: '1' },
  })
  expect(stdout).toMatch(/Tests +10 passed \(10\)/)
})
