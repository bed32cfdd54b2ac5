import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapters, makeAdapterProject } from './adapterProject.ts'
import { compileOurs } from './compileOurs.ts'
import { latest, startLatestBlockServer } from './latestBlockServer.ts'
import type { LatestBlockServer } from './latestBlockServer.ts'
import { run } from './run.ts'
import { compilers, nodes } from './toolchains.ts'

// Installs each packed adapter with its library, as a user would, and runs the user's programs.

let server: LatestBlockServer
beforeAll(async () => {
  server = await startLatestBlockServer()
})
afterAll(() => server.close())

describe.each(adapters)('@keyrail/$folder, packed', (adapter) => {
  const { folder } = adapter
  let directory = ''

  beforeAll(() => {
    directory = makeAdapterProject(adapter)
    for (const extension of ['mjs', 'cjs', 'mts', 'cts']) {
      cpSync(
        join(import.meta.dirname, `consumers/adapters/${folder}.${extension}`),
        join(directory, `${folder}.${extension}`),
      )
    }
    cpSync(join(import.meta.dirname, 'consumers/runTyped.mjs'), join(directory, 'runTyped.mjs'))
  })

  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  describe.each(nodes)('on Node $node', ({ program }) => {
    test.each(['mjs', 'cjs'])('a program in .%s reads the latest block and exits', async (extension) => {
      const ran = await run(program, [`${folder}.${extension}`, server.url], { cwd: directory })
      expect(ran.stderr).toBe('')
      expect(ran.code).toBe(0)
      expect(JSON.parse(ran.stdout)).toEqual(latest)
    })
  })

  test.each(compilers)(
    'the types compile together with those of the library, from .mts and .cts, under TypeScript $typescript; the output of TypeScript 7 runs',
    async ({ typescript, tsc }) => {
      const out = `out-${typescript}`
      writeFileSync(
        join(directory, `${out}.json`),
        JSON.stringify({
          compilerOptions: {
            module: 'nodenext',
            // The types of the libraries use `fetch` and `WebSocket`, so they need the DOM types or the Node types.
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
      // Ignores errors inside a library, which its adapter cannot fix. Libraries are in the workspace, everything else is in this directory.
      if (typescript === 6) expect(compileOurs(join(directory, `${out}.json`))).toEqual([])
      else {
        const { stdout, stderr } = await run(tsc, ['-p', `${out}.json`, '--pretty', 'false'], { cwd: directory })
        expect(stderr).toBe('')
        const problems = stdout.split('\n').filter((line) => /^\S+\(\d+,\d+\): /.test(line))
        expect(problems.filter((line) => !line.includes('node_modules/.pnpm/'))).toEqual([])
      }
      // All compilers write the same output, so only that of the first one is run.
      for (const { program } of typescript === compilers[0].typescript ? nodes : []) {
        for (const extension of ['mjs', 'cjs']) {
          const args = ['runTyped.mjs', `./${out}/${folder}.${extension}`, server.url]
          const ran = await run(program, args, { cwd: directory })
          expect(ran.stderr).toBe('')
          expect(JSON.parse(ran.stdout)).toEqual(latest)
        }
      }
    },
    // Checking all of viem takes a long time on a busy machine.
    300_000,
  )
})
