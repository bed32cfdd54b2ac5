import { parseArgs } from 'node:util'
import { runSoak } from './soak/runSoak.ts'

// A soak: very many calls through random faults. `--calls N`, `--seed N`, `--carrier fetch`; ends with 1 where anything went wrong.
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    httpClient: { type: 'string', default: 'node:http' },
  },
})
const [calls, seed] = [Number(values.calls), Number(values.seed)]
if (!Number.isInteger(calls) || calls < 1) throw new Error('--calls takes a whole number from 1')
if (!Number.isInteger(seed)) throw new Error('--seed takes a whole number')
if (!['node:http', 'fetch'].includes(values.httpClient)) throw new Error('--carrier is node:http or fetch')

const say = (text: string): void => void process.stdout.write(`${text}\n`)
say(`${calls} calls through faults, by ${values.httpClient}, seed ${seed}`)
const { figures, checks, samples } = await runSoak({
  calls,
  seed,
  fetch: values.httpClient === 'fetch' ? globalThis.fetch : undefined,
  collect: globalThis.gc && (() => void globalThis.gc?.()),
  onProgress: say,
})
const table = (lines: readonly (readonly string[])[]): string => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
say(`\n${table(figures)}\n`)
say(table(checks.map(({ name, found, wanted, ok }) => [ok ? 'good' : 'WRONG', name, found, `(${wanted})`])))
for (const sample of samples) say(`  ${sample}`)
if (checks.some(({ ok }) => !ok)) process.exitCode = 1
