import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { compileOurs } from './compileOurs.ts'
import { latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { run } from './run.ts'
import { compilers, nodes } from './toolchains.ts'

// What a user of each library installs and writes.

let server: LatestBlockServer
beforeAll(async () => {
  server = await startLatestBlockServer()
})
afterAll(() => server.close())

describe.each(adapters)('@keyrail/$folder, packed', (adapter) => {
  const { folder } = adapter
  let room = ''

  beforeAll(() => {
    room = makeAdapterProject(adapter)
    for (const extension of ['mjs', 'cjs', 'mts', 'cts']) {
      cpSync(
        join(import.meta.dirname, `consumers/adapters/${folder}.${extension}`),
        join(room, `${folder}.${extension}`),
      )
    }
    cpSync(join(import.meta.dirname, 'consumers/runTyped.mjs'), join(room, 'runTyped.mjs'))
  })

  afterAll(() => rmSync(room, { recursive: true, force: true }))

  describe.each(nodes)('on Node $node', ({ program }) => {
    test.each(['mjs', 'cjs'])('a program in .%s reads the latest block and exits by itself', async (extension) => {
      const ran = await run(program, [`${folder}.${extension}`, server.url], { cwd: room })
      expect(ran.stderr).toBe('')
      expect(ran.code).toBe(0)
      expect(JSON.parse(ran.stdout)).toEqual(latest)
    })
  })

  test.each(compilers)(
    'its types compile beside those of its library, from .mts and .cts, under TypeScript $typescript; what TypeScript 7 writes runs',
    async ({ typescript, tsc }) => {
      const out = `out-${typescript}`
      writeFileSync(
        join(room, `${out}.json`),
        JSON.stringify({
          compilerOptions: {
            module: 'nodenext',
            // The libraries speak of `fetch` and `WebSocket` in one way or the other.
            lib: ['es2022', 'dom', 'dom.iterable'],
            types: ['node'],
            target: 'es2022',
            strict: true,
            exactOptionalPropertyTypes: true,
            skipLibCheck: false,
            rootDir: '.',
            outDir: out,
          },
          files: [`${folder}.mts`, `${folder}.cts`],
        }),
      )
      // What is wrong inside a library is not for its adapter to fix; those lie in the workspace, all else in this room.
      if (typescript === 6) expect(compileOurs(join(room, `${out}.json`))).toEqual([])
      else {
        const { stdout, stderr } = await run(tsc, ['-p', `${out}.json`, '--pretty', 'false'], { cwd: room })
        expect(stderr).toBe('')
        const faults = stdout.split('\n').filter((line) => /^\S+\(\d+,\d+\): /.test(line))
        expect(faults.filter((line) => !line.includes('node_modules/.pnpm/'))).toEqual([])
      }
      // What the compilers write is theirs, and the same: it is run as the first of them wrote it.
      for (const { program } of typescript === compilers[0].typescript ? nodes : []) {
        for (const extension of ['mjs', 'cjs']) {
          const args = ['runTyped.mjs', `./${out}/${folder}.${extension}`, server.url]
          const ran = await run(program, args, { cwd: room })
          expect(ran.stderr).toBe('')
          expect(JSON.parse(ran.stdout)).toEqual(latest)
        }
      }
    },
    // Checking all of viem takes long on a busy machine.
    300_000,
  )
})
