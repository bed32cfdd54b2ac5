import { parseArgs } from 'node:util'
import { runSoak } from './runSoak.ts'

// A soak test: many calls through random faults. Options: `--calls N`, `--seed N`, `--http-client fetch`. Exits with 1 if a check failed.
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
    'http-client': { type: 'string', default: 'node:http' },
  },
})
const [calls, seed] = [Number(values.calls), Number(values.seed)]
if (!Number.isInteger(calls) || calls < 1) throw new Error('--calls must be an integer of 1 or more')
if (!Number.isInteger(seed)) throw new Error('--seed must be an integer')
if (!['node:http', 'fetch'].includes(values['http-client'])) throw new Error('--http-client must be node:http or fetch')

const say = (text: string): void => void process.stdout.write(`${text}\n`)
say(`${calls} calls through faults, by ${values['http-client']}, seed ${seed}`)
const { figures, checks, samples } = await runSoak({
  calls,
  seed,
  fetch: values['http-client'] === 'fetch' ? globalThis.fetch : undefined,
  collect: globalThis.gc && (() => void globalThis.gc?.()),
  onProgress: say,
})
const table = (lines: readonly (readonly string[])[]): string => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
say(`\n${table(figures)}\n`)
say(table(checks.map(({ name, found, wanted, ok }) => [ok ? 'ok' : 'WRONG', name, found, `(${wanted})`])))
for (const sample of samples) say(`  ${sample}`)
if (checks.some(({ ok }) => !ok)) process.exitCode = 1
