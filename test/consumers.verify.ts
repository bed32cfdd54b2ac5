import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, bundlers } from './bundle.ts'
import { answers, latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { installed } from './packed.ts'
import { run, top } from './run.ts'
import { compilers, nodes } from './toolchains.ts'

// A user's project: the packed packages are installed in it, and nothing of the workspace can be reached from it.

// The two ways a user's project knows `fetch` and `AbortSignal`.
const platforms = [
  { platform: 'Node types, no DOM', lib: ['es2023'], types: ['node'] },
  { platform: 'DOM, no Node types', lib: ['es2022', 'dom'], types: [] },
] as const

const resolutions = [
  { resolution: 'nodenext', options: { module: 'nodenext' }, files: ['typed.mts', 'typed.cts'] },
  { resolution: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler' }, files: ['typed.ts'] },
] as const

const consumers = join(import.meta.dirname, 'consumers')
// A program that has closed its client has nothing left to wait for. Idle connections would hold it for longer than this.
const promptMs = 4_000

let server: LatestBlockServer
let room = ''

beforeAll(async () => {
  server = await startLatestBlockServer()
  room = mkdtempSync(join(installed(), 'consumer-'))
  cpSync(consumers, room, { recursive: true })
  cpSync(join(room, 'typed.mts'), join(room, 'typed.ts'))
  writeFileSync(join(room, 'package.json'), '{ "private": true, "type": "module" }')
  mkdirSync(join(room, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(top, 'node_modules/@types/node'), join(room, 'node_modules/@types/node'))
})

afterAll(() => {
  server.close()
  rmSync(room, { recursive: true, force: true })
})

describe.each(nodes)('on Node $node', ({ program }) => {
  test.each(['program.mjs', 'program.cjs'])('%s reads the latest block and exits', async (file) => {
    const { code, stdout, stderr, lingeredMs } = await run(program, [file, server.url], { cwd: room })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(latest)
    expect(lingeredMs).toBeLessThan(promptMs)
  })
})

describe.each(compilers)('with TypeScript $typescript', ({ typescript, tsc }) => {
  describe.each(platforms)('and $platform', ({ lib, types }) => {
    test.each(resolutions)(
      '$resolution: $files compile, libraries checked; what TypeScript 7 writes runs',
      async ({ resolution, options, files }) => {
        const out = `out-${typescript}-${types.length}-${resolution}`
        writeFileSync(
          join(room, `${out}.json`),
          JSON.stringify({
            compilerOptions: {
              ...options,
              lib,
              types,
              target: 'es2022',
              strict: true,
              exactOptionalPropertyTypes: true,
              skipLibCheck: false,
              rootDir: '.',
              outDir: out,
            },
            files,
          }),
        )
        const { code, stdout } = await run(tsc, ['-p', `${out}.json`, '--pretty', 'false'], { cwd: room })
        expect(stdout).toBe('')
        expect(code).toBe(0)
        // What the compilers write is theirs, and the same: it is run as the first of them wrote it.
        for (const { program } of typescript === compilers[0].typescript ? nodes : []) {
          for (const file of files) {
            const compiled = `./${out}/${file.replace(/ts$/, 'js')}`
            const ran = await run(program, ['runTyped.mjs', compiled, server.url], { cwd: room })
            expect(ran.stderr).toBe('')
            expect(JSON.parse(ran.stdout)).toEqual(latest)
            expect(ran.lingeredMs).toBeLessThan(promptMs)
          }
        }
      },
    )
  })
})

describe.each(bundlers)('bundled for browsers by %s', (bundler) => {
  let entry = ''

  beforeAll(async () => {
    const chunks = await bundle(bundler, join(room, 'typed.ts'))
    mkdirSync(join(room, bundler))
    for (const { name, code } of chunks) writeFileSync(join(room, bundler, name), code)
    entry = `./${bundler}/${chunks[0]?.name}`
  })

  test.each(nodes)('asks by fetch and nothing else (run on Node $node)', async ({ program }) => {
    const { code, stdout, stderr, lingeredMs } = await run(program, ['runBundle.mjs', entry, JSON.stringify(answers)], {
      cwd: room,
    })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(latest)
    expect(lingeredMs).toBeLessThan(promptMs)
  })
})
