import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getInstalled } from './getPacked.ts'
import { run } from './run.ts'

/** One exact call. */
const exactCall = `
import { createTransport } from '@keyrail/core'

const transport = createTransport({ url: 'https://node.example/testnet' })
transport.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }).then((block) => console.log(block))
`

const exactRequest = `
import { createClient } from '@keyrail/fetch'

const client = createClient({ url: 'https://node.example/testnet' })
const block = await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
export const hashes: readonly string[] | undefined = block?.transactions
// @ts-expect-error the result is known: a block has no such field
export const nothing = block?.noSuchField
`

// The number of type instantiations determines how fast an editor responds.
const costs = [
  { what: 'a call', program: exactCall, skipLibCheck: true, atMost: 300 },
  { what: 'a call, libraries checked', program: exactCall, skipLibCheck: false, atMost: 30_000 },
  { what: 'one exact request', program: exactRequest, skipLibCheck: true, atMost: 8_000 },
] as const

let directory = ''

beforeAll(() => {
  directory = mkdtempSync(join(getInstalled(), 'types-'))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

test.each(costs)('$what costs at most $atMost instantiations', async ({ what, program, skipLibCheck, atMost }) => {
  writeFileSync(join(directory, 'program.ts'), program)
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom'],
        types: [],
        noEmit: true,
        skipLibCheck,
      },
      files: ['program.ts'],
    }),
  )
  const { code, stdout } = await run('tsc', ['-p', '.', '--extendedDiagnostics', '--pretty', 'false'], {
    cwd: directory,
  })
  const instantiations = Number(/^Instantiations:\s+(\d+)/m.exec(stdout)?.[1])
  console.log(`types: ${what}: ${instantiations} instantiations of ${atMost}`)
  expect(code, stdout).toBe(0)
  expect(instantiations).toBeLessThanOrEqual(atMost)
})
