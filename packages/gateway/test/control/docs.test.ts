import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { tokenScopes } from '../../src/control/contract/accessToken.ts'
import { databases } from '../storage/databases.ts'
import { startControl } from './startControl.ts'
import type { StartedControl } from './startControl.ts'
import { createToken, signUp } from './accountFixture.ts'

const run = promisify(execFile)
const document = readFileSync(join(import.meta.dirname, '../../../../docs/service/control-api.md'), 'utf8')
/** All blocks of a language, one after another. */
const getCode = (language: string): string => {
  const blocks = [...document.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))]
  if (blocks.length === 0) throw new Error(`the document has no ${language} block`)
  return blocks.map(([, code]) => code).join('')
}

const [sqlite] = databases
let control: StartedControl
let environment: Record<string, string>
beforeAll(async () => {
  if (sqlite === undefined) throw new Error('SQLite is missing')
  control = await startControl(sqlite)
  const { bearer } = await createToken(control, await signUp(control), tokenScopes)
  environment = {
    PATH: process.env['PATH'] ?? '',
    KEYRAIL_SERVICE_URL: control.url,
    KEYRAIL_TOKEN: bearer,
    KEYRAIL_OPERATOR_TOKEN: control.operatorToken,
  }
})
afterAll(async () => {
  await control.close()
  await sqlite?.stop()
})

test("the document's shell commands work", needs('curl'), async () => {
  const { stdout } = await run('sh', ['-ec', getCode('sh')], { env: environment })
  expect(stdout).toMatch(
    /^\{"items":\[\],"next":null,"total":0,"free":20\}\{"app":\{.*"name":"Shop".*"apiKey":"kr_a[0-9A-Za-z]{39}"/,
  )
  expect(stdout).toMatch(/at,userId,appId,keyId,network,method,calls,units,bytes\r\n$/)
})

test("the document's TypeScript client works", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-control-docs-'))
  try {
    const file = join(folder, 'sample.mts')
    writeFileSync(file, getCode('ts'))
    const { stdout } = await run(process.execPath, [file], { env: environment })
    expect(stdout).toMatch(/^From a script ends in [0-9A-Za-z]{4}; the old one works until 20\d\d-\d\d-\d\dT/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the document lists every error code', () => {
  const codes = readFileSync(join(import.meta.dirname, '../../src/control/contract/apiError.ts'), 'utf8')
  const named = [...codes.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, code]) => code)
  expect(named.length).toBeGreaterThan(15)
  for (const code of named) expect(document).toContain(`\`${code}\``)
})
