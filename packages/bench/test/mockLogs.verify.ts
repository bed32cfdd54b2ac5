import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { mockLogsRow } from '../src/rows.ts'

const ROUNDS = 10

test('a mock node with 10,000 mined blocks reports every figure of its row, and stays within its memory bars', async () => {
  const room = await mkdtemp(join(import.meta.dirname, 'mockLogs-'))
  try {
    const program = join(room, 'program.mjs')
    await build({
      entryPoints: [join(import.meta.dirname, '../src', mockLogsRow.program)],
      outfile: program,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2022',
      // Uses the source of the mock node, because a build may be old.
      conditions: ['@keyrail/source'],
      external: ['msw'],
      logLevel: 'silent',
    })
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program, String(ROUNDS)], {
      env: { PATH: process.env['PATH'] },
    })
    const figures = JSON.parse(stdout) as Record<string, number[]>
    expect(Object.keys(figures).sort()).toEqual(mockLogsRow.figures.map(({ key }) => key).sort())
    for (const { key, title, unit, most = Infinity } of mockLogsRow.figures) {
      const values = figures[key] as number[]
      expect(values, title).toHaveLength(unit === 'ms' ? ROUNDS : 1)
      const lowest = Math.min(...values)
      console.log(`${title}: ${lowest.toFixed(1)} ${unit}${most < Infinity ? ` of ${most}` : ''}`)
      expect(lowest, title).toBeGreaterThan(0)
      // Times depend on the load of the machine, so only the bench checks their bars.
      if (unit !== 'ms') expect(lowest, title).toBeLessThan(most)
    }
  } finally {
    await rm(room, { recursive: true })
  }
}, 120_000)
