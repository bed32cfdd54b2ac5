import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const package_ = join(import.meta.dirname, '..')
const top = join(package_, '../..')
const url = 'https://node.example/rpc'

let folder = ''
beforeAll(async () => {
  // Inside the package, so that the program can import msw.
  folder = mkdtempSync(join(package_, 'node_modules/.node20-'))
  await build({
    entryPoints: [join(package_, 'src/index.ts')],
    bundle: true,
    outfile: join(folder, 'keyrailMsw.mjs'),
    format: 'esm',
    platform: 'node',
    conditions: ['@keyrail/source'],
    external: ['msw', 'msw/*'],
    logLevel: 'silent',
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = async (nodePackage: string, program: string): Promise<string> => {
  const file = join(folder, 'program.mjs')
  writeFileSync(file, `import { createMockNode, record, replay } from './keyrailMsw.mjs'\n${program}`)
  const { stdout } = await promisify(execFile)(join(top, 'node_modules', nodePackage, 'bin/node'), [file])
  return stdout
}

const report = '.catch((error) => console.log(`${error.kind}: ${error.message}`))'

test.each([
  ['createMockNode', `Promise.resolve().then(() => createMockNode({ url: '${url}' }))${report}`],
  ['record', `Promise.resolve().then(() => record('${url}'))${report}`],
  ['replay', `replay([], { url: '${url}' })${report}`],
])('%s fails on Node 20 with an error that names the version', async (_, program) => {
  const output = await run('node20', program)
  expect(output).toMatch(/^invalidRequest: msw 3 needs Node 22\.12 or later, but this is v20\./)
})

test('a mock node responds on Node 22', async () => {
  const program = `
import { setupServer } from 'msw/node'
const node = createMockNode({ url: '${url}' })
setupServer(...node.handlers).listen()
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
const response = await fetch('${url}', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
console.log((await response.json()).result)`
  expect(await run('node22', program)).toBe('0x7a69\n')
})
