import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCoreSlice, buildGatewaySlice, buildPythonSlice, methodTable, toSource } from '../scripts/methodSlices.ts'
import type { MethodTable } from '../scripts/methodSlices.ts'
import { needsPython, setUpPython } from '../scripts/setUpPython.ts'
import { run, top } from './run.ts'

// Adds a row to the table in copies of the slices, and runs the sources with them.

const added = 'eth_addedInThisTest'
const tables: Readonly<Record<string, MethodTable>> = {
  'no row': methodTable,
  'a row of a read': { ...methodTable, [added]: { access: 'read', service: 'always', addresses: 'none' } },
  'a row of a read of debug': { ...methodTable, [added]: { access: 'read', service: 'debug', addresses: 'none' } },
  'a row that is not a read': { ...methodTable, [added]: { service: 'always', addresses: 'none' } },
}
const expected: readonly (readonly [string, { offered: boolean; offeredWithDebug: boolean; isRead: boolean }])[] = [
  ['no row', { offered: false, offeredWithDebug: false, isRead: false }],
  ['a row of a read', { offered: true, offeredWithDebug: true, isRead: true }],
  ['a row of a read of debug', { offered: false, offeredWithDebug: true, isRead: true }],
  ['a row that is not a read', { offered: true, offeredWithDebug: true, isRead: false }],
]

let directory = ''
let url = ''
let requests = 0
/** A node that loses the first request: it breaks the connection, so that it is unknown whether the method ran. */
const node = createServer((request, response) => {
  requests++
  if (requests === 1) {
    request.socket.destroy()
    return
  }
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    const { id } = JSON.parse(body) as { readonly id: unknown }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })
})

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keyrail-row-'))
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
})
beforeEach(() => {
  requests = 0
})
afterAll(() => {
  node.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Runs a program in Node, from the sources, with the slices of a table. */
const runWithTable = async (table: MethodTable, program: string): Promise<unknown> => {
  const slices = {
    'core/src/schema/methodSlice.ts': {
      format: 'module',
      source: toSource(buildCoreSlice(table)).replace(' as const', ''),
    },
    'gateway/src/lib/methods.json': { format: 'json', source: JSON.stringify(buildGatewaySlice(table)) },
  }
  const hook = join(directory, 'hook.mjs')
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module'
    const slices = Object.entries(${JSON.stringify(slices)})
    registerHooks({
      load: (url, context, next) => {
        const found = slices.find(([path]) => url.endsWith(path))
        return found ? { ...found[1], shortCircuit: true } : next(url, context)
      },
    })`,
  )
  const { code, stdout, stderr } = await run(
    'node',
    ['--conditions=@keyrail/source', '--import', pathToFileURL(hook).href, '--input-type=module', '--eval', program],
    { cwd: join(top, 'packages/gateway') },
  )
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout)
}

test.each(expected)(
  'with %s, the service offers the method accordingly',
  async (name, { offered, offeredWithDebug, isRead }) => {
    const file = pathToFileURL(join(top, 'packages/gateway/src/proxy/method/createMethodPolicy.ts')).href
    const traits = await runWithTable(
      tables[name] ?? {},
      `const { createMethodPolicy } = await import(${JSON.stringify(file)})
    const get = (debug) => createMethodPolicy({ debug, trace: false, txpool: false })('${added}') ?? null
    console.log(JSON.stringify([get(false), get(true)]))`,
    )
    const wanted = (is: boolean): unknown => (is ? expect.objectContaining({ label: added, idempotent: isRead }) : null)
    expect(traits).toEqual([wanted(offered), wanted(offeredWithDebug)])
  },
)

test.each(expected)('with %s, the SDK sends it again accordingly', async (name, { isRead }) => {
  const outcome = await runWithTable(
    tables[name] ?? {},
    `const { createTransport } = await import('@keyrail/core')
    const transport = createTransport({ url: ${JSON.stringify(url)} })
    const outcome = await transport.request({ method: '${added}', params: [] }).catch(({ kind }) => kind)
    transport.close()
    console.log(JSON.stringify(outcome))`,
  )
  expect([outcome, requests]).toEqual(isRead ? ['0x1', 2] : ['network', 1])
})

const python = await setUpPython()

test.each(expected)('with %s, Python sends it again accordingly', needsPython(python), async (name, { isRead }) => {
  const folder = join(directory, name)
  cpSync(join(top, 'packages/python/src'), folder, { recursive: true })
  writeFileSync(join(folder, 'keyrail/methods.json'), JSON.stringify(buildPythonSlice(tables[name])))
  const program = `
import sys, keyrail
sys.stderr.write(keyrail.__file__)
with keyrail.KeyrailProvider(${JSON.stringify(url)}) as provider:
    try:
        print(provider.make_request("${added}", [])["result"], end="")
    except keyrail.KeyrailError as error:
        print(error.kind, end="")
`
  const { stdout, stderr } = await run('python' in python ? python.python : '', ['-c', program], {
    env: { PYTHONPATH: folder },
  })
  expect(stderr).toContain(folder)
  expect([stdout, requests]).toEqual(isRead ? ['0x1', 2] : ['network', 1])
})
