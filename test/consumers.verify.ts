import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, bundlers } from './bundle.ts'
import { results, latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { getInstalled } from './getPacked.ts'
import { run, top } from './run.ts'
import { compilers, nodes } from './toolchains.ts'

// Tests run in a user's project: the packed packages are installed in it, and it cannot reach the workspace.

// A user's project gets the types of `fetch` and `AbortSignal` from one of these.
const platforms = [
  { platform: 'Node types, no DOM', lib: ['es2023'], types: ['node'] },
  { platform: 'DOM, no Node types', lib: ['es2022', 'dom'], types: [] },
] as const

const resolutions = [
  { resolution: 'nodenext', options: { module: 'nodenext' }, files: ['typed.mts', 'typed.cts'] },
  { resolution: 'node16', options: { module: 'node16' }, files: ['typed.mts', 'typed.cts'] },
  { resolution: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler' }, files: ['typed.ts'] },
] as const

const consumers = join(import.meta.dirname, 'consumers')
// A program exits soon after it has closed its client. With open idle connections it would take longer than this.
const maxExitDelayMs = 4_000

let server: LatestBlockServer
let directory = ''

beforeAll(async () => {
  server = await startLatestBlockServer()
  directory = mkdtempSync(join(getInstalled(), 'consumer-'))
  cpSync(consumers, directory, { recursive: true })
  cpSync(join(directory, 'typed.mts'), join(directory, 'typed.ts'))
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }')
  mkdirSync(join(directory, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(top, 'node_modules/@types/node'), join(directory, 'node_modules/@types/node'))
})

afterAll(() => {
  server.close()
  rmSync(directory, { recursive: true, force: true })
})

describe.each(nodes)('on Node $node', ({ program }) => {
  test.each(['program.mjs', 'program.cjs'])('%s reads the latest block and exits', async (file) => {
    const { code, stdout, stderr, exitDelayMs } = await run(program, [file, server.url], { cwd: directory })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(latest)
    expect(exitDelayMs).toBeLessThan(maxExitDelayMs)
  })
})

describe.each(compilers)('with TypeScript $typescript', ({ typescript, tsc }) => {
  describe.each(platforms)('and $platform', ({ lib, types }) => {
    test.each(resolutions)(
      '$resolution: $files compile, libraries checked; the output of TypeScript 7 runs',
      async ({ resolution, options, files }) => {
        const out = `out-${typescript}-${types.length}-${resolution}`
        writeFileSync(
          join(directory, `${out}.json`),
          JSON.stringify({
            compilerOptions: {
              ...options,
              lib,
              types,
              target: 'es2022',
              strict: true,
              exactOptionalPropertyTypes: true,
              declaration: true,
              isolatedDeclarations: true,
              skipLibCheck: false,
              rootDir: '.',
              outDir: out,
            },
            files,
          }),
        )
        const { code, stdout } = await run(tsc, ['-p', `${out}.json`, '--pretty', 'false'], { cwd: directory })
        expect(stdout).toBe('')
        expect(code).toBe(0)
        // All compilers write the same output, so only that of the first one is run.
        for (const { program } of typescript === compilers[0].typescript ? nodes : []) {
          for (const file of files) {
            const compiled = `./${out}/${file.replace(/ts$/, 'js')}`
            const ran = await run(program, ['runTyped.mjs', compiled, server.url], { cwd: directory })
            expect(ran.stderr).toBe('')
            expect(JSON.parse(ran.stdout)).toEqual(latest)
            expect(ran.exitDelayMs).toBeLessThan(maxExitDelayMs)
          }
        }
      },
    )
  })
})

describe.each(bundlers)('bundled for browsers by %s', (bundler) => {
  let entry = ''

  beforeAll(async () => {
    const chunks = await bundle(bundler, join(directory, 'typed.ts'))
    mkdirSync(join(directory, bundler))
    for (const { name, code } of chunks) writeFileSync(join(directory, bundler, name), code)
    entry = `./${bundler}/${chunks[0]?.name}`
  })

  test.each(nodes)('uses only fetch to make calls (run on Node $node)', async ({ program }) => {
    const { code, stdout, stderr, exitDelayMs } = await run(
      program,
      ['runBundle.mjs', entry, JSON.stringify(results)],
      {
        cwd: directory,
      },
    )
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(latest)
    expect(exitDelayMs).toBeLessThan(maxExitDelayMs)
  })
})
